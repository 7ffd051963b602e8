#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "insight/classes.h"
#include "insight/report_text.h"
#include "qkv/insight/report.h"

namespace qkv {
namespace {

Heatmap map_of(std::string title, Tensor values, std::string_view rows, std::string_view columns) {
  Heatmap map;
  map.title = std::move(title);
  map.values = std::move(values);
  map.row_labels = insight::numbers_to(map.values.dim(0));
  map.column_labels = insight::numbers_to(map.values.dim(1));
  map.row_axis = rows;
  map.column_axis = columns;
  return map;
}

template <class Measure>
Heatmap map_of(const SiteHeads& site, std::string title, const Measure& measure) {
  std::vector<double> values;
  for (const HeadStatistics& head : site.all) values.push_back(measure(head));
  return map_of(std::move(title), Tensor(values, {site.layers, site.heads}), "layer", "head");
}

// Shares and evenness have one scale, so that maps can be compared.
Heatmap share_map(Heatmap map) {
  map.value_name = "share";
  map.low = 0;
  map.high = 1;
  return map;
}

}  // namespace

Panel heads_grid(const SiteHeads& site) {
  Panel panel{.title = fmt::format("Heads: {}", name_of(site.site)), .heatmaps = {}};
  using Head = const HeadStatistics&;
  Heatmap entropy = map_of(site, "entropy", [](Head head) { return head.entropy; });
  entropy.value_name = "nats";
  entropy.low = 0;
  panel.heatmaps.push_back(std::move(entropy));
  panel.heatmaps.push_back(share_map(map_of(site, "evenness", [](Head head) { return head.evenness; })));
  for (const std::size_t p : insight::patterns_of(site)) {
    panel.heatmaps.push_back(share_map(map_of(site, std::string(text_patterns()[p].name), [p](Head head) {
      return head.shares[p].rows > 0 ? head.shares[p].mean() : std::numeric_limits<double>::quiet_NaN();
    })));
  }
  if (site.all.empty()) return panel;
  if (site.all.front().repeat_induction) {
    panel.heatmaps.push_back(
        share_map(map_of(site, "induction, random tokens repeated", [](Head head) { return *head.repeat_induction; })));
  }
  if (site.all.front().similarity) {
    Heatmap similarity = map_of(site, "attention and likeness of tokens", [](Head head) { return *head.similarity; });
    similarity.value_name = "rank correlation";
    similarity.colours = ColourMap::diverging;
    similarity.low = -1;
    similarity.high = 1;
    panel.heatmaps.push_back(std::move(similarity));
  }
  if (site.all.front().distance) {
    Heatmap distance = map_of(site, "distance", [](Head head) { return *head.distance; });
    distance.value_name = "tokens";
    distance.low = 0;
    panel.heatmaps.push_back(std::move(distance));
  }
  if (site.all.front().removal) {
    Heatmap removal = map_of(site, "rise of the loss without the head", [](Head head) { return *head.removal; });
    removal.value_name = "nats";
    removal.colours = ColourMap::diverging;
    panel.heatmaps.push_back(std::move(removal));
    Heatmap gradient = map_of(site, "|gradient × output|", [](Head head) { return *head.gradient; });
    gradient.value_name = "nats, to first order";
    gradient.low = 0;
    panel.heatmaps.push_back(std::move(gradient));
  }
  return panel;
}

Panel classes_by_layer(const SiteHeads& site) {
  const std::vector<std::string> words = insight::classes_of(site);
  Tensor counts(DType::f64, {site.layers, static_cast<std::int64_t>(words.size())});
  for (const HeadStatistics& head : site.all) {
    const auto column = std::ranges::find(words, head.shown.word) - words.begin();
    counts.set({head.layer, column}, counts.at({head.layer, column}) + 1);
  }
  Heatmap map = map_of("", std::move(counts), "layer", "class");
  map.column_labels = words;
  map.value_name = "heads";
  map.decimals = 0;
  map.low = 0;
  map.high = static_cast<double>(site.heads);
  return {.title = fmt::format("Classes by layer: {}", name_of(site.site)), .heatmaps = {std::move(map)}};
}

Panel head_distances(const SiteHeads& site) {
  Panel panel{.title = fmt::format("How far heads of a layer are apart: {}", name_of(site.site)), .heatmaps = {}};
  for (std::size_t layer = 0; layer < site.distances.size(); ++layer) {
    Heatmap map = map_of(fmt::format("layer {}", layer), site.distances[layer], "head", "head");
    map.value_name = "Jensen-Shannon distance";
    map.low = 0;
    map.high = 1;
    panel.heatmaps.push_back(std::move(map));
  }
  return panel;
}

Panel rollout_maps(const std::vector<Tensor>& rollout, const std::vector<std::string>& tokens) {
  Panel panel{.title = "Attention rollout", .heatmaps = {}};
  for (const std::size_t layer : std::set<std::size_t>{0, rollout.size() / 2, rollout.size() - 1}) {
    Heatmap map = map_of(fmt::format("up to layer {}", layer), rollout[layer], "place", "token");
    map.row_labels = map.column_labels = tokens;
    map = share_map(std::move(map));
    panel.heatmaps.push_back(std::move(map));
  }
  return panel;
}

Panel flow_map(const Tensor& flow, const std::vector<std::string>& tokens) {
  Heatmap map = map_of("through all layers", flow, "place", "token");
  map.row_labels = map.column_labels = tokens;
  map.value_name = "largest flow";
  map.low = 0;
  return {.title = "Attention flow", .heatmaps = {std::move(map)}};
}

Panel relations_by_head(const SyntaxAnalysis& analysis, std::int64_t fewest) {
  Panel panel{.title = "Share of pairs that a head finds", .heatmaps = {}};
  for (const RelationAccuracy& relation : analysis.relations) {
    if (relation.pairs < fewest || !relation.best) continue;
    std::vector<double> shares;
    for (const std::int64_t right : relation.right) {
      shares.push_back(static_cast<double>(right) / static_cast<double>(relation.pairs));
    }
    const double offset = static_cast<double>(relation.offset_right) / static_cast<double>(relation.pairs);
    const std::string guess = relation.offset ? fmt::format(", {:+}: {:.2f}", *relation.offset, offset) : "";
    const std::string title = fmt::format("{} {}{}", relation.label, name_of(relation.direction), guess);
    panel.heatmaps.push_back(
        share_map(map_of(title, Tensor(shares, {analysis.layers, analysis.heads}), "layer", "head")));
  }
  return panel;
}

Chart entropy_by_depth(const SiteHeads& site) {
  Chart chart;
  chart.title = fmt::format("Entropy by depth: {}", name_of(site.site));
  chart.x.name = "layer";
  chart.y.name = "entropy, nats";
  Series mean{.name = "mean of heads", .x = {}, .y = {}};
  Series low{.name = "lowest head", .x = {}, .y = {}};
  Series high{.name = "highest head", .x = {}, .y = {}};
  for (std::int64_t layer = 0; layer < site.layers; ++layer) {
    const auto first = site.all.begin() + layer * site.heads;
    const auto [least, most] =
        std::minmax_element(first, first + site.heads,
                            [](const HeadStatistics& a, const HeadStatistics& b) { return a.entropy < b.entropy; });
    double sum = 0;
    for (auto head = first; head != first + site.heads; ++head) sum += head->entropy;
    for (Series* series : {&mean, &low, &high}) series->x.push_back(static_cast<double>(layer));
    mean.y.push_back(sum / static_cast<double>(site.heads));
    low.y.push_back(least->entropy);
    high.y.push_back(most->entropy);
  }
  chart.series = {std::move(mean), std::move(low), std::move(high)};
  return chart;
}

}  // namespace qkv
