#include "../arrays.h"
#include "models.h"
#include "qkv/picture/mask_heatmap.h"

namespace qkv::python {
namespace {

Tensor map_of(nb::handle array, const char* name) {
  Tensor values = tensor_of(array, {"heatmap", name});
  if (values.rank() != 3) throw InvalidArgument("heatmap", name, "[maps, rows, columns]", values.shape().to_string());
  return values;
}

// What all maps of a picture share.
struct Look {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::pair<std::string, std::string> axes;
  std::optional<std::pair<std::int64_t, std::int64_t>> places;
  std::string value;
  bool diverging;
  std::optional<double> low;
  std::optional<double> high;
  int decimals;
};

std::string heatmaps_svg(const std::string& title, nb::handle values, const nb::object& hidden,
                         const std::vector<std::string>& names, const Look& look) {
  const Tensor maps = map_of(values, "values");
  const Tensor out_of_sight = hidden.is_none() ? Tensor() : map_of(hidden, "hidden");
  Panel panel{.title = title, .heatmaps = {}};
  for (std::int64_t n = 0; n < maps.dim(0); ++n) {
    Heatmap& map = panel.heatmaps.emplace_back();
    map.title = names.at(static_cast<std::size_t>(n));
    map.values = Tensor(maps.select(0, n).view());
    if (!hidden.is_none()) map.hidden = Tensor(out_of_sight.select(0, n).view());
    map.row_labels = look.rows;
    map.column_labels = look.columns;
    std::tie(map.row_axis, map.column_axis) = look.axes;
    map.value_name = look.value;
    if (look.places && look.rows.empty()) map.row_places = look.places->first;
    if (look.places && look.columns.empty()) map.column_places = look.places->second;
    if (look.diverging) map.colours = ColourMap::diverging;
    map.low = look.low;
    map.high = look.high;
    map.decimals = look.decimals;
  }
  return to_svg(panel);
}

std::string mask_svg(const Mask& mask, const MaskShape& shape) {
  const TilePlan plan(mask, shape);
  Panel panel{.title = mask.to_string(), .heatmaps = {}};
  for (std::int64_t n = 0; n < shape.B * shape.H; ++n) {
    Heatmap& map = panel.heatmaps.emplace_back(mask_heatmap(plan, n / shape.H, n % shape.H));
    if (shape.B > 1) map.title = "batch entry " + std::to_string(n / shape.H) + (shape.H > 1 ? ", " : "");
    if (shape.H > 1) map.title += "head " + std::to_string(n % shape.H);
  }
  return to_svg(panel);
}

}  // namespace

void add_heatmaps(nb::module_& module) {
  module.def(
      "heatmaps_svg",
      [](const std::string& title, nb::handle values, const nb::object& hidden, const std::vector<std::string>& names,
         std::vector<std::string> rows, std::vector<std::string> columns, std::pair<std::string, std::string> axes,
         std::optional<std::pair<std::int64_t, std::int64_t>> places, std::string value, bool diverging,
         std::optional<double> low, std::optional<double> high, int decimals) {
        return heatmaps_svg(title, values, hidden, names,
                            {std::move(rows), std::move(columns), std::move(axes), places, std::move(value), diverging,
                             low, high, decimals});
      },
      nb::arg("title"), nb::arg("values"), nb::arg("hidden").none(), nb::kw_only(), nb::arg("names"), nb::arg("rows"),
      nb::arg("columns"), nb::arg("axes"), nb::arg("places").none(), nb::arg("value"), nb::arg("diverging"),
      nb::arg("low").none(), nb::arg("high").none(), nb::arg("decimals"));
  module.def(
      "mask_svg",
      [](const Mask& mask, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
        return mask_svg(mask, {.B = B, .H = H, .Tq = Tq, .Tk = Tk});
      },
      nb::arg("mask"), nb::arg("Tq"), nb::arg("Tk"), nb::arg("B"), nb::arg("H"));
}

}  // namespace qkv::python
