// An explanation as the page Explain shows it.
#include <fmt/format.h>

#include "explain/shared_scale.h"
#include "qkv/view/explain.h"
#include "view/probe_parts.h"

namespace qkv {
namespace {

std::vector<std::string> labels_or_places(const std::vector<std::string>& labels, std::int64_t count) {
  return labels.empty() ? view_detail::numbers_from_to(0, count) : labels;
}

ExplainedMap shown_map(const NamedHeatmap& named, const std::vector<NamedHeatmap>& beside) {
  const Heatmap& heatmap = named.heatmap;
  const explain_detail::Ends ends = explain_detail::shared_ends(heatmap, beside);
  ExplainedMap map{.id = named.id,
                   .title = heatmap.title,
                   .rows = labels_or_places(heatmap.row_labels, heatmap.values.dim(0)),
                   .columns = labels_or_places(heatmap.column_labels, heatmap.values.dim(1)),
                   .row_axis = heatmap.row_axis,
                   .column_axis = heatmap.column_axis,
                   .value_name = heatmap.value_name,
                   .colours = heatmap.colours == ColourMap::sequential ? "sequential" : "diverging",
                   .low = ends.low,
                   .high = ends.high,
                   .decimals = heatmap.decimals,
                   .values = Tensor(heatmap.values.view(), DType::f64),
                   .hidden = std::nullopt};
  Tensor hidden(DType::b8, heatmap.values.shape());
  bool hides = false;
  auto out = hidden.values<bool>().begin();
  for (std::int64_t i = 0; i < heatmap.values.dim(0); ++i) {
    for (std::int64_t j = 0; j < heatmap.values.dim(1); ++j) {
      *out++ = explain_detail::is_hidden(heatmap, i, j);
      hides = hides || explain_detail::is_hidden(heatmap, i, j);
    }
  }
  if (hides) map.hidden = std::move(hidden);
  return map;
}

std::vector<ExplainedPicture> pictures_of(const Section& section) {
  std::vector<ExplainedPicture> all;
  for (const Image& image : section.images) {
    Image untitled = image;
    untitled.title.clear();
    all.push_back({.id = fmt::format("image-{}", all.size()),
                   .title = image.title,
                   .text = "Image " + image.title,
                   .svg = to_svg(Gallery{.title = "", .images = {untitled}})});
  }
  for (const NamedChart& named : section.charts) {
    all.push_back({.id = named.id, .title = "", .text = named.chart.title, .svg = to_svg(named.chart)});
  }
  for (const auto& [id, diagram] : section.diagrams) {
    all.push_back({.id = id, .title = "", .text = diagram.text, .svg = to_svg(diagram)});
  }
  return all;
}

ExplainedPart part_of(const char* kind, const Section& section) {
  ExplainedPart part{.kind = kind,
                     .number = section.number,
                     .id = section.id,
                     .title = section.title,
                     .text = section.text,
                     .finding = section.finding,
                     .formulas = section.formulas,
                     .shape = section.shape,
                     .maps = {},
                     .is_folded = section.is_folded,
                     .tables = section.tables,
                     .pictures = pictures_of(section),
                     .notes = section.notes};
  // Folded maps are looked at one by one, so each has colours of its own.
  for (const NamedHeatmap& named : section.heatmaps) {
    part.maps.push_back(shown_map(named, section.is_folded ? std::vector{named} : section.heatmaps));
  }
  return part;
}

}  // namespace

ExplainReply explained(const Explanation& explanation) {
  ExplainReply reply{.title = explanation.title,
                     .tokens = explanation.tokens,
                     .keys = explanation.keys,
                     .settings = explanation.settings,
                     .notes = explanation.notes,
                     .parts = {}};
  for (const Section& step : explanation.steps) reply.parts.push_back(part_of("step", step));
  if (explanation.query) reply.parts.push_back(part_of("query", *explanation.query));
  for (const Section& why : explanation.whys) reply.parts.push_back(part_of("why", why));
  return reply;
}

}  // namespace qkv
