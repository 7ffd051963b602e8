// The weights of one head, of all heads of a site, and how well they show the patterns of the task.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/counted.h"
#include "explain/drawing.h"
#include "explain/numbers.h"
#include "explain/trained/model_run.h"
#include "explain/words.h"

namespace qkv::explain_detail {
namespace {

// Weights far below 1 would all look like none on a scale that ends there.
double high_end(const TensorView& weights) {
  constexpr double kFaint = 0.5;
  double most = 0;
  for (const double weight : weights.to_vector()) most = std::max(most, weight);
  return most > kFaint || most <= 0 ? 1 : most;
}

NamedHeatmap head_map(const SiteWeights& site, std::size_t layer, std::int64_t head, const std::string& id) {
  const std::string title = fmt::format("{}, layer {}, head {}", capital(site.name), layer, head);
  const TensorView matrix = site.weights[layer].view().select(0, head);
  NamedHeatmap map = site.long_text ? means_picture(id, title, matrix, site.keys, site.long_text->block)
                                    : matrix_picture(id, title, matrix, {site.queries, site.keys});
  if (!map.whole.empty()) map.whole = matrix_in(site, layer, head);
  map.heatmap.value_name = "weight";
  map.heatmap.low = 0;
  map.heatmap.high = high_end(map.heatmap.values);
  // A matrix too large to be drawn whole is drawn as means, which have cells of their own.
  if (map.heatmap.values.shape() == site.hidden.shape()) map.heatmap.hidden = site.hidden;
  return map;
}

constexpr std::string_view kRows = "Each row shows how a query distributes its attention; a row's weights sum to 1.";

Table pattern_table(const SiteWeights& site, const SitePattern& relation) {
  Table table;
  table.title = fmt::format("{} ({}): {}", relation.name, site.name, relation.description);
  table.columns = {"layer"};
  for (std::size_t head = 0; head < relation.layers.front().size(); ++head) {
    table.columns.push_back(fmt::format("head {}", head));
  }
  for (std::size_t layer = 0; layer < relation.layers.size(); ++layer) {
    std::vector<Cell> row = {word(fmt::format("{}", layer))};
    for (const double weight : relation.layers[layer]) row.push_back(rounded(weight));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string heads_id(const SiteWeights& site) {
  std::string id = "heads-" + site.name;
  std::ranges::replace(id, ' ', '-');  // fit for a file name
  return id;
}

}  // namespace

Tensor matrix_in(const SiteWeights& site, std::size_t layer, std::int64_t head) {
  const Tensor& all = site.weights[layer];
  return Tensor::borrow(all.view().select(0, head), std::make_shared<const Tensor>(all));
}

std::string head_id(const SiteWeights& site, std::size_t layer, std::size_t head) {
  return fmt::format("{}-layer{}-head{}", heads_id(site), layer, head);
}

Section head_step(const ModelRun& model_run) {
  const SiteWeights& site = model_run.sites[model_run.site];
  Section step;
  step.id = "head";
  step.title = fmt::format("One head: {}, layer {}, head {}", site.name, model_run.layer, model_run.head);
  step.text = kRows;
  step.heatmaps = {head_map(site, model_run.layer, static_cast<std::int64_t>(model_run.head), "head")};
  return step;
}

Section heads_step(const SiteWeights& site) {
  Section step;
  step.id = heads_id(site);
  step.title = fmt::format("What every head looks at: {}", site.name);
  step.text = kRows;
  step.is_detail = true;
  step.is_folded = true;
  for (std::size_t layer = 0; layer < site.weights.size(); ++layer) {
    for (std::int64_t head = 0; head < site.weights[layer].dim(0); ++head) {
      step.heatmaps.push_back(head_map(site, layer, head, head_id(site, layer, static_cast<std::size_t>(head))));
    }
  }
  const std::size_t layers = site.weights.size();
  const auto keys = std::ssize(site.keys);
  const Shape whole = site.long_text ? Shape{site.weights.front().dim(0), keys, keys} : site.weights.front().shape();
  step.shape = core::counted(layers, "layer") + " of [H, Tq, Tk] = " + whole.to_string();
  return step;
}

Section patterns_step(const ModelRun& model_run) {
  Section step;
  step.id = "patterns";
  step.title = "How well the heads show what a solved model must look at";
  step.text = "The mean weight on the keys of the pattern, over the queries that have one in this text.";
  for (const SiteWeights& site : model_run.sites) {
    for (const SitePattern& relation : site.relations) step.tables.push_back(pattern_table(site, relation));
  }
  return step;
}

}  // namespace qkv::explain_detail
