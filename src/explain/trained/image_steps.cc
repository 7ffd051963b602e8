// The image that a model reads, and the weights of one head over it.
#include <fmt/format.h>

#include <algorithm>

#include "explain/numbers.h"
#include "explain/trained/model_run.h"

namespace qkv::explain_detail {
namespace {

// What the query at this token is asked for.
std::string asked_at(const ModelRun& model_run, std::size_t query) {
  const bool is_token = model_run.sites[model_run.site].queries == model_run.tokens;
  return is_token && query < model_run.expected.size() ? model_run.expected[query] : "";
}

// The weight of the head that is shown on the keys of each row.
Table rows_table(const ModelRun& model_run, const TensorView& head) {
  Table table;
  table.title = "The weight on the patches that the model should look at";
  table.columns = {"", "token", "expected", "pattern", "patches", "weight on them"};
  const SiteWeights& site = model_run.sites[model_run.site];
  for (const SitePattern& relation : site.relations) {
    for (const PatternKeys& row : relation.rows) {
      const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(row.query)).to_vector();
      double sum = 0;
      for (const std::size_t key : row.keys) sum += weights[key];
      table.rows.push_back({whole(static_cast<std::int64_t>(row.query)), word(site.queries[row.query]),
                            word(asked_at(model_run, row.query)), word(relation.name),
                            word(fmt::format("{} of {}", row.keys.size(), weights.size())), rounded(sum)});
    }
  }
  return table;
}

Shape patches_of(const SiteWeights& site) {
  return {(std::ssize(site.keys) - site.places_from) / site.key_columns, site.key_columns};
}

}  // namespace

Tensor marks_of(const SiteWeights& site, std::size_t query) {
  Tensor marked;
  for (const SitePattern& relation : site.relations) {
    const auto row = std::ranges::find(relation.rows, query, &PatternKeys::query);
    if (row == relation.rows.end()) continue;
    if (marked.empty()) marked = Tensor(DType::b8, patches_of(site));
    for (const std::size_t key : row->keys) marked.values<bool>()[key] = true;
  }
  return marked;
}

Section class_step(const ModelRun& model_run) {
  const SiteWeights& site = model_run.sites[model_run.site];
  const Tensor& layer = site.weights[model_run.layer];
  Section step;
  step.id = "class-token";
  step.title = fmt::format("Where the class token looks: layer {}, each head", model_run.layer);
  step.text = "The less weight a patch has, the darker it is drawn; the one with the largest weight shows as it is.";
  step.shape = fmt::format("{} heads of [rows, columns] = {}", layer.dim(0), patches_of(site).to_string());
  for (std::int64_t head = 0; head < layer.dim(0); ++head) {
    const TensorView row = layer.view().select(0, head).select(0, 0);
    step.images.push_back({.title = fmt::format("head {}", head),
                           .pixels = model_run.image,
                           .weights = Tensor(row.slice(0, site.places_from, row.dim(0)).to_vector(), patches_of(site)),
                           .marked = {}});
  }
  return step;
}

Section picture_step(const ModelRun& model_run) {
  Section step;
  step.id = "picture";
  step.title = "The image";
  step.text = "As the model sees it, in its own colours.";
  step.shape = fmt::format("[3, H, W] = {}", model_run.image.shape().to_string());
  step.images.push_back({.title = "", .pixels = model_run.image, .weights = {}, .marked = {}});
  return step;
}

Section image_step(const ModelRun& model_run) {
  const SiteWeights& site = model_run.sites[model_run.site];
  const TensorView head = site.weights[model_run.layer].view().select(0, static_cast<std::int64_t>(model_run.head));
  const Shape patches = patches_of(site);
  Section step;
  step.id = "image";
  step.is_detail = site.queries == site.keys;  // a map for each patch
  step.title = fmt::format("Where each {} looks: layer {}, head {}", step.is_detail ? "patch" : "token",
                           model_run.layer, model_run.head);
  step.text = "The less weight a patch has, the darker it is drawn; the one with the largest weight shows as it is.";
  step.shape = fmt::format("{} queries of [rows, columns] = {}", head.dim(0), patches.to_string());
  for (std::size_t token = 0; token < site.queries.size(); ++token) {
    Image image{.title = fmt::format("{} {}", token, site.queries[token]),
                .pixels = model_run.image,
                .weights = Tensor(head.select(0, static_cast<std::int64_t>(token))
                                      .slice(0, site.places_from, std::ssize(site.keys))
                                      .to_vector(),
                                  patches),
                .marked = marks_of(site, token)};
    if (const std::string asked = asked_at(model_run, token); !asked.empty()) image.title += " → " + asked;
    step.images.push_back(std::move(image));
  }
  Table table = rows_table(model_run, head);
  if (!table.rows.empty()) {
    step.text += " Outlined (in a terminal: beside it) are the patches the model should look at.";
    step.tables.push_back(std::move(table));
  }
  return step;
}

}  // namespace qkv::explain_detail
