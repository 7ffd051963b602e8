// The image that a model reads, and the weights of one head over it.
#include <fmt/format.h>

#include <algorithm>

#include "explain/numbers.h"
#include "explain/trained/reading.h"

namespace qkv::explain_detail {
namespace {

// What the query at this token is asked for.
std::string asked_at(const Reading& reading, std::size_t query) {
  const bool is_token = reading.sites[reading.site].queries == reading.tokens;
  return is_token && query < reading.expected.size() ? reading.expected[query] : "";
}

// The weight of the head that is shown on the keys of each row.
Table rows_table(const Reading& reading, const TensorView& head) {
  Table table;
  table.title = "The weight on the patches that the model should look at";
  table.columns = {"", "token", "expected", "pattern", "patches", "weight on them"};
  const ReadingSite& site = reading.sites[reading.site];
  for (const ReadingRelation& relation : site.relations) {
    for (const ReadingRow& row : relation.rows) {
      const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(row.query)).to_vector();
      double sum = 0;
      for (const std::size_t key : row.keys) sum += weights[key];
      table.rows.push_back({whole(static_cast<std::int64_t>(row.query)), word(site.queries[row.query]),
                            word(asked_at(reading, row.query)), word(relation.name),
                            word(fmt::format("{} of {}", row.keys.size(), weights.size())), rounded(sum)});
    }
  }
  return table;
}

// The patches of any pattern that this query has; empty without one.
Tensor marks_of(const ReadingSite& site, std::size_t query, const Shape& patches) {
  Tensor marked;
  for (const ReadingRelation& relation : site.relations) {
    const auto row = std::ranges::find(relation.rows, query, &ReadingRow::query);
    if (row == relation.rows.end()) continue;
    if (marked.empty()) marked = Tensor(DType::b8, patches);
    for (const std::size_t key : row->keys) marked.values<bool>()[key] = true;
  }
  return marked;
}

}  // namespace

Section picture_step(const Reading& reading) {
  Section step;
  step.id = "picture";
  step.title = "The image";
  step.text = "As the model sees it, in its own colours.";
  step.shape = fmt::format("[3, H, W] = {}", reading.image.shape().to_string());
  step.images.push_back({.title = "", .pixels = reading.image, .weights = {}, .marked = {}});
  return step;
}

Section image_step(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  const TensorView head = site.weights[reading.layer].view().select(0, static_cast<std::int64_t>(reading.head));
  const Shape patches{head.dim(1) / site.key_columns, site.key_columns};
  Section step;
  step.id = "image";
  step.is_detail = site.queries == site.keys;  // a map for each patch
  step.title = fmt::format("Where each {} looks: layer {}, head {}", step.is_detail ? "patch" : "token", reading.layer,
                           reading.head);
  step.text = "The less weight a patch has, the darker it is drawn; the one with the largest weight shows as it is.";
  step.shape = fmt::format("{} queries of [rows, columns] = {}", head.dim(0), patches.to_string());
  for (std::size_t token = 0; token < site.queries.size(); ++token) {
    Image image{.title = fmt::format("{} {}", token, site.queries[token]),
                .pixels = reading.image,
                .weights = Tensor(head.select(0, static_cast<std::int64_t>(token)).to_vector(), patches),
                .marked = marks_of(site, token, patches)};
    if (const std::string asked = asked_at(reading, token); !asked.empty()) image.title += " → " + asked;
    step.images.push_back(std::move(image));
  }
  Table table = rows_table(reading, head);
  if (!table.rows.empty()) {
    step.text += " Outlined (in a terminal: beside it) are the patches the model should look at.";
    step.tables.push_back(std::move(table));
  }
  return step;
}

}  // namespace qkv::explain_detail
