// An explanation as the page Explain shows it, and as the command prints it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "api/probe/probe_parts.h"
#include "api/replies/shown_image.h"
#include "explain/shared_scale.h"
#include "qkv/api/explain.h"

namespace qkv {
namespace {

std::vector<std::string> labels_or_places(const std::vector<std::string>& labels, std::int64_t count) {
  return labels.empty() ? api_detail::numbers_from_to(0, count) : labels;
}

std::optional<Tensor> if_any(const Tensor& tensor) { return tensor.empty() ? std::nullopt : std::optional(tensor); }

// All numbers of a reply are f64; a matrix of a model may be kept in its own dtype.
std::optional<Tensor> in_f64_if_any(const Tensor& tensor) {
  return tensor.empty() ? std::nullopt : std::optional(tensor.to(DType::f64));
}

// Whatever has the same digits where it is shown: one number for all of them, with the fewest bits, which a page packs
// into half the bytes. What is shown as ≈0 stays apart from 0.
float shortest_shown(double value, int decimals) {
  const double unit = std::pow(10.0, -decimals);
  if (!std::isfinite(value) || value == 0) return static_cast<float>(value);
  if (std::abs(value) < 0.5 * unit) return static_cast<float>(std::copysign(0.25 * unit, value));
  constexpr double kWithin = 0.45;  // of a unit, so that rounding leaves the digits alone
  constexpr double kHalf = 0.5 - 1e-6;
  double digits = std::round(value / unit);
  if (std::abs(value / unit - digits) > kHalf) {  // between two digits; halfway, whoever writes it chooses
    if (static_cast<float>(value) == value) return static_cast<float>(value);
    digits = static_cast<double>(std::round(static_cast<long double>(value) * std::pow(10.0L, decimals)));
  }
  const double shown = digits * unit;
  int exponent = 0;
  std::frexp(shown, &exponent);
  for (int bits = 1; bits < std::numeric_limits<float>::digits; ++bits) {
    const double step = std::ldexp(1.0, exponent - bits);
    const double near = std::round(shown / step) * step;
    if (near >= (digits - kWithin) * unit && near <= (digits + kWithin) * unit) return static_cast<float>(near);
  }
  return static_cast<float>(value);
}

// As fine as its digits, or as digits that are finer than its colours, of which there are 256.
Tensor shown_values(const Heatmap& heatmap, const explain_detail::Ends& ends) {
  constexpr double kColours = 512;
  int decimals = heatmap.decimals;
  while (ends.high > ends.low && std::pow(10.0, -decimals) > (ends.high - ends.low) / kColours) ++decimals;
  Tensor values(DType::f32, heatmap.values.shape());
  const std::vector<double> all = heatmap.values.to_vector();
  std::ranges::transform(all, values.values<float>().begin(),
                         [decimals](double value) { return shortest_shown(value, decimals); });
  return values;
}

ExplainedMap shown_map(const NamedHeatmap& named, const std::vector<NamedHeatmap>& beside, Explained how) {
  const Heatmap& heatmap = named.heatmap;
  const explain_detail::Ends ends = explain_detail::shared_ends(heatmap, beside);
  ExplainedMap map{
      .id = named.id,
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
      .values = how == Explained::in_numbers ? Tensor(heatmap.values.view(), DType::f64) : shown_values(heatmap, ends),
      .hidden = std::nullopt,
      .whole = how == Explained::in_numbers ? in_f64_if_any(named.whole) : std::nullopt};
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

std::string_view name_of(Ink ink) {
  constexpr std::array<std::string_view, 6> kNames = {"plain", "soft", "query", "key", "value", "accent"};
  return kNames.at(static_cast<std::size_t>(ink));
}

ExplainedDiagram shown_diagram(const Diagram& diagram) {
  constexpr std::array<const char*, 4> kStrokeKinds = {"line", "dashes", "arrow", "area"};
  constexpr std::array<const char*, 3> kFills = {"none", "faint", "strong"};
  constexpr std::array<const char*, 3> kAligns = {"left", "middle", "right"};
  const auto named = [](const auto& names, auto value) { return names.at(static_cast<std::size_t>(value)); };
  ExplainedDiagram shown{.width = diagram.width, .height = diagram.height, .strokes = {}, .boxes = {}, .captions = {}};
  for (const Stroke& stroke : diagram.strokes) {
    ExplainedStroke& one =
        shown.strokes.emplace_back(named(kStrokeKinds, stroke.kind), std::string(name_of(stroke.ink)));
    for (const Spot& spot : stroke.through) {
      one.x.push_back(spot.x);
      one.y.push_back(spot.y);
    }
  }
  for (const auto& [corner, width, height, text, ink, fill] : diagram.boxes) {
    shown.boxes.push_back({corner.x, corner.y, width, height, text, std::string(name_of(ink)), named(kFills, fill)});
  }
  for (const auto& [at, text, ink, align] : diagram.captions) {
    shown.captions.push_back({at.x, at.y, text, std::string(name_of(ink)), named(kAligns, align)});
  }
  return shown;
}

/// A picture lies under the weights of many heads and tokens, and is sent once.
std::int64_t place_of(std::vector<Tensor>& images, const TensorView& colours) {
  Tensor pixels = api_detail::shown_image(colours);
  const auto same = [&](const Tensor& image) {
    return image.shape() == pixels.shape() &&
           std::ranges::equal(image.values<std::uint8_t>(), pixels.values<std::uint8_t>());
  };
  const auto found = std::ranges::find_if(images, same);
  const auto place = found - images.begin();
  if (found == images.end()) images.push_back(std::move(pixels));
  return place;
}

std::vector<ExplainedPicture> pictures_of(const Section& section, std::vector<Tensor>& images) {
  std::vector<ExplainedPicture> all;
  const auto add = [&](std::string id, std::string title, std::string text) -> ExplainedPicture& {
    ExplainedPicture& picture = all.emplace_back();
    picture.id = std::move(id);
    picture.title = std::move(title);
    picture.text = std::move(text);
    return picture;
  };
  for (const Image& image : section.images) {
    ExplainedPicture& picture = add(fmt::format("image-{}", all.size()), image.title, "Image " + image.title);
    picture.image = place_of(images, image.pixels);
    picture.weights = if_any(image.weights);
    picture.marked = if_any(image.marked);
  }
  for (const auto& [id, chart] : section.charts) {
    ExplainedPicture& picture = add(id, chart.title, chart.title);
    picture.x_axis = chart.x.name;
    picture.y_axis = chart.y.name;
    picture.logarithmic = chart.x.scale == AxisScale::logarithmic;
    for (const Series& series : chart.series) picture.series.push_back({series.name, series.x, series.y});
  }
  for (const auto& [id, diagram] : section.diagrams) {
    add(id, diagram.title, diagram.text).diagram = shown_diagram(diagram);
  }
  return all;
}

ExplainedPart part_of(const char* kind, const Section& section, Explained how, std::vector<Tensor>& images) {
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
                     .pictures = pictures_of(section, images),
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
                     .sources = explanation.sources,
                     .settings = explanation.settings,
                     .notes = explanation.notes,
                     .parts = {},
                     .images = {},
                     .tensors = {}};
  const auto add = [&](const char* kind, const Section& section) {
    reply.parts.push_back(part_of(kind, section, how, reply.images));
  };
  for (const Section& step : explanation.steps) add("step", step);
  if (explanation.query) add("query", *explanation.query);
  for (const Section& why : explanation.whys) add("why", why);
  if (how == Explained::as_shown) return reply;
  for (const auto& [name, tensor] : explanation.tensors) reply.tensors.emplace_back(name, tensor);
  return reply;
}

}  // namespace qkv
