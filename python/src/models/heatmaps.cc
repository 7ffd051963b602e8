#include "../arrays.h"
#include "models.h"
#include "qkv/picture/heatmap.h"

namespace qkv::python {
namespace {

Tensor map_of(nb::handle array, const char* name) {
  Tensor values = tensor_of(array, {"heatmaps", name});
  if (values.rank() != 3) throw InvalidArgument("heatmaps", name, "[maps, rows, columns]", values.shape().to_string());
  return values;
}

std::string heatmaps_svg(const std::string& title, nb::handle values, nb::handle visible,
                         const std::vector<std::string>& names, std::pair<std::int64_t, std::int64_t> places,
                         const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
  const Tensor maps = map_of(values, "values");
  const Tensor seen = map_of(visible, "visible");
  Panel panel{.title = title, .heatmaps = {}};
  for (std::int64_t n = 0; n < maps.dim(0); ++n) {
    Heatmap& map = panel.heatmaps.emplace_back();
    map.title = names.at(static_cast<std::size_t>(n));
    map.values = Tensor(maps.select(0, n).view());
    map.hidden = Tensor(DType::b8, map.values.shape());
    for (std::int64_t r = 0; r < maps.dim(1); ++r) {
      for (std::int64_t c = 0; c < maps.dim(2); ++c) {
        map.hidden.set({r, c}, seen.at({n, r, c}) > 0 ? 0 : 1);
      }
    }
    map.row_labels = rows;
    map.column_labels = columns;
    map.row_axis = "query";
    map.column_axis = "key";
    map.value_name = "weight";
    if (rows.empty()) map.row_places = places.first;
    if (columns.empty()) map.column_places = places.second;
  }
  return to_svg(panel);
}

}  // namespace

void add_heatmaps(nb::module_& module) {
  module.def("heatmaps_svg", &heatmaps_svg, nb::arg("title"), nb::arg("values"), nb::arg("visible"), nb::arg("names"),
             nb::arg("places"), nb::arg("rows"), nb::arg("columns"));
}

}  // namespace qkv::python
