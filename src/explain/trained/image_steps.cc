// The image that a model reads, and the weights of one head over it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/numbers.h"
#include "explain/trained/reading.h"

namespace qkv::explain_detail {
namespace {

// A picture has one number a cell: how far a pixel stands from the colour in the middle of all, which is the ground
// where most of an image is ground.
Tensor distance_from_ground(const TensorView& image) {
  const auto pixels = static_cast<std::size_t>(image.dim(1) * image.dim(2));
  std::vector<double> far(pixels);
  for (std::int64_t channel = 0; channel < image.dim(0); ++channel) {
    const std::vector<double> values = image.select(0, channel).to_vector();
    std::vector<double> sorted = values;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(pixels / 2);
    std::ranges::nth_element(sorted, middle);
    for (std::size_t n = 0; n < pixels; ++n) far[n] = std::max(far[n], std::abs(values[n] - *middle));
  }
  return {far, {image.dim(1), image.dim(2)}};
}

Heatmap patches_map(std::string title, const std::vector<double>& values, std::int64_t columns) {
  Heatmap map;
  map.title = std::move(title);
  map.values = Tensor(values, {static_cast<std::int64_t>(values.size()) / columns, columns});
  map.row_axis = "row";
  map.column_axis = "column";
  map.low = 0;
  return map;
}

// What the query at this token is asked for.
std::string asked_at(const Reading& reading, std::size_t query) {
  return query < reading.expected.size() ? reading.expected[query] : "";
}

// The weight of the head that is shown on the keys of each row.
Table rows_table(const Reading& reading, const TensorView& head) {
  Table table;
  table.title = "The weight on the patches that the model should look at";
  table.columns = {"", "token", "expected", "pattern", "patches", "weight on them"};
  for (const ReadingRelation& relation : reading.sites[reading.site].relations) {
    for (const ReadingRow& row : relation.rows) {
      const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(row.query)).to_vector();
      double sum = 0;
      for (const std::size_t key : row.keys) sum += weights[key];
      table.rows.push_back({word(fmt::format("{}", row.query)), word(reading.sites[reading.site].queries[row.query]),
                            word(asked_at(reading, row.query)), word(relation.name),
                            word(fmt::format("{} of {}", row.keys.size(), weights.size())), rounded(sum)});
    }
  }
  return table;
}

}  // namespace

Section picture_step(const Reading& reading) {
  Section step;
  step.id = "picture";
  step.title = "The image";
  step.text =
      "A cell is a pixel as the model sees it: the most by which its red, green or blue differs from the "
      "image's median.";
  step.shape = fmt::format("[3, H, W] = {}", reading.image.shape().to_string());
  Heatmap map;
  map.title = "image";
  map.values = distance_from_ground(reading.image);
  map.row_axis = "row";
  map.column_axis = "column";
  map.value_name = "difference";
  map.low = 0;
  map.high = 1;
  step.heatmaps.push_back({.id = "picture", .heatmap = std::move(map)});
  return step;
}

// Where in the image each token of the chosen head looks, and beside it where what it is asked for is.
Section image_step(const Reading& reading) {
  const ReadingSite& site = reading.sites[reading.site];
  Section step;
  step.id = "image";
  step.is_gallery = true;
  step.title = fmt::format("Where each token looks: layer {}, head {}", reading.layer, reading.head);
  step.text =
      "A row of the weights, laid out as the patches lie in the image, each on a scale that ends at its own largest "
      "weight.";
  const TensorView head = site.weights[reading.layer].view().select(0, static_cast<std::int64_t>(reading.head));
  const std::int64_t rows = head.dim(1) / site.key_columns;
  step.shape = fmt::format("{} tokens of [rows, columns] = [{}, {}]", head.dim(0), rows, site.key_columns);
  for (std::size_t token = 0; token < site.queries.size(); ++token) {
    const std::vector<double> weights = head.select(0, static_cast<std::int64_t>(token)).to_vector();
    Heatmap map = patches_map(fmt::format("{} {}", token, site.queries[token]), weights, site.key_columns);
    const double most = *std::ranges::max_element(weights);
    map.value_name = "weight";
    map.high = most > 0 ? most : 1;
    step.heatmaps.push_back({.id = fmt::format("image-token{}", token), .heatmap = std::move(map)});
    for (const ReadingRelation& relation : site.relations) {
      const auto row = std::ranges::find(relation.rows, token, &ReadingRow::query);
      if (row == relation.rows.end()) continue;
      std::vector<double> there(weights.size());
      for (const std::size_t key : row->keys) there[key] = 1;
      const std::string asked = asked_at(reading, token);
      Heatmap where = patches_map(fmt::format("{} → {}: {}", token, asked, relation.name), there, site.key_columns);
      where.value_name = "is there";
      where.decimals = 0;
      where.high = 1;
      step.heatmaps.push_back(
          {.id = fmt::format("image-token{}-{}", token, relation.name), .heatmap = std::move(where)});
    }
  }
  Table table = rows_table(reading, head);
  if (!table.rows.empty()) {
    step.text += " Beside it the patches of the pattern: those the model should look at.";
    step.tables.push_back(std::move(table));
  }
  return step;
}

}  // namespace qkv::explain_detail
