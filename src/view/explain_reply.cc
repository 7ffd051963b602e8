// An explanation as the page Explain shows it, and as the command prints it.
#include <fmt/format.h>

#include "explain/shared_scale.h"
#include "qkv/view/explain.h"
#include "view/probe_parts.h"

namespace qkv {
namespace {

std::vector<std::string> labels_or_places(const std::vector<std::string>& labels, std::int64_t count) {
  return labels.empty() ? view_detail::numbers_from_to(0, count) : labels;
}

std::optional<Tensor> if_any(const Tensor& tensor) { return tensor.empty() ? std::nullopt : std::optional(tensor); }

ExplainedMap shown_map(const NamedHeatmap& named, const std::vector<NamedHeatmap>& beside, Explained how) {
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
                   .hidden = std::nullopt,
                   .whole = how == Explained::in_numbers ? if_any(named.whole) : std::nullopt};
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

ExplainedPicture in_numbers(const Image& image) {
  ExplainedPicture picture;
  picture.weights = if_any(image.weights);
  picture.marked = if_any(image.marked);
  // The pixels of an image that lies under weights stand in another section.
  if (!picture.weights) picture.pixels = image.pixels;
  return picture;
}

ExplainedPicture in_numbers(const Chart& chart) {
  ExplainedPicture picture;
  picture.x_axis = chart.x.name;
  picture.y_axis = chart.y.name;
  for (const Series& series : chart.series) picture.series.push_back({series.name, series.x, series.y});
  return picture;
}

template <class Drawn>
ExplainedPicture picture_of(const Drawn& drawn) {
  ExplainedPicture picture;
  picture.svg = to_svg(drawn);
  return picture;
}

std::vector<ExplainedPicture> pictures_of(const Section& section, Explained how) {
  const bool is_drawn = how == Explained::in_pictures;
  std::vector<ExplainedPicture> all;
  const auto add = [&](ExplainedPicture picture, std::string id, std::string title, std::string text) {
    picture.id = std::move(id);
    picture.title = std::move(title);
    picture.text = std::move(text);
    all.push_back(std::move(picture));
  };
  for (const Image& image : section.images) {
    Image untitled = image;
    untitled.title.clear();
    add(is_drawn ? picture_of(Gallery{.title = "", .images = {untitled}}) : in_numbers(image),
        fmt::format("image-{}", all.size()), image.title, "Image " + image.title);
  }
  for (const auto& [id, chart] : section.charts) {
    add(is_drawn ? picture_of(chart) : in_numbers(chart), id, "", chart.title);
  }
  for (const auto& [id, diagram] : section.diagrams) {
    add(is_drawn ? picture_of(diagram) : ExplainedPicture(), id, "", diagram.text);
  }
  return all;
}

ExplainedPart part_of(const char* kind, const Section& section, Explained how) {
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
                     .pictures = pictures_of(section, how),
                     .notes = section.notes};
  // Folded maps are looked at one by one, so each has colours of its own.
  for (const NamedHeatmap& named : section.heatmaps) {
    part.maps.push_back(shown_map(named, section.is_folded ? std::vector{named} : section.heatmaps, how));
  }
  return part;
}

}  // namespace

ExplainReply explained(const Explanation& explanation, Explained how) {
  ExplainReply reply{.title = explanation.title,
                     .tokens = explanation.tokens,
                     .keys = explanation.keys,
                     .settings = explanation.settings,
                     .notes = explanation.notes,
                     .parts = {},
                     .tensors = {}};
  for (const Section& step : explanation.steps) reply.parts.push_back(part_of("step", step, how));
  if (explanation.query) reply.parts.push_back(part_of("query", *explanation.query, how));
  for (const Section& why : explanation.whys) reply.parts.push_back(part_of("why", why, how));
  if (how == Explained::in_pictures) return reply;
  for (const auto& [name, tensor] : explanation.tensors) reply.tensors.emplace_back(name, tensor);
  return reply;
}

}  // namespace qkv
