#include "probe_places.h"

#include <algorithm>

namespace qkv::python {

Range range_of(std::string_view function, std::string_view name, nb::handle range, std::int64_t length) {
  if (range.is_none()) return {.begin = 0, .end = length};
  if (nb::isinstance<nb::slice>(range)) {
    const auto [begin, end, step] =
        nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t>>(range.attr("indices")(length));
    if (step < 1) throw InvalidArgument(function, name, "a step of 1 or more", std::to_string(step));
    return {.begin = begin, .end = std::max(begin, end), .step = step};
  }
  std::pair<std::int64_t, std::int64_t> ends;
  if (!nb::try_cast(range, ends)) {
    const std::string start = std::string(function) + ": " + std::string(name);
    throw nb::type_error((start + ": expected a slice or a pair (begin, end), got " + said_type(range)).c_str());
  }
  return {.begin = ends.first, .end = ends.second};
}

Tile tile_of(std::string_view function, const MaskShape& shape, HeadPlace head, nb::handle queries, nb::handle keys) {
  const Range rows = range_of(function, "queries", queries, shape.Tq);
  const Range columns = range_of(function, "keys", keys, shape.Tk);
  if (rows.step != 1) throw InvalidArgument(function, "queries", "a step of 1", std::to_string(rows.step));
  if (columns.step != 1) throw InvalidArgument(function, "keys", "a step of 1", std::to_string(columns.step));
  return {.b = head.b,
          .h = head.h,
          .i_begin = rows.begin,
          .i_end = rows.end,
          .j_begin = columns.begin,
          .j_end = columns.end};
}

MapRequest map_request(std::string_view function, const MaskShape& shape, const MapArguments& arguments) {
  if (arguments.of != "each" && arguments.of != "mean") {
    throw InvalidArgument(function, "of", "each or mean", "\"" + arguments.of + "\"");
  }
  MapRequest request = {.b = arguments.b, .size = {.rows = arguments.rows, .columns = arguments.columns}};
  if (arguments.heads) request.heads = *arguments.heads;
  const Tile area = tile_of(function, shape, {}, arguments.queries, arguments.keys);
  request.area = {.i_begin = area.i_begin, .i_end = area.i_end, .j_begin = area.j_begin, .j_end = area.j_end};
  request.of = arguments.of == "each" ? MapOf::each : MapOf::mean;
  return request;
}

nb::object given(CellMaps maps) {
  return nb::module_::import_("qkv._results")
      .attr("CellMaps")(numpy_array(std::move(maps.mean)), numpy_array(std::move(maps.largest)),
                        numpy_array(std::move(maps.visible)));
}

nb::tuple given(const MaskShape& shape) { return nb::make_tuple(shape.B, shape.H, shape.Tq, shape.Tk); }

std::string said_of(std::string_view type, const MaskShape& shape) {
  return "qkv." + std::string(type) + "(B=" + std::to_string(shape.B) + ", Hq=" + std::to_string(shape.H) +
         ", Tq=" + std::to_string(shape.Tq) + ", Tk=" + std::to_string(shape.Tk) + ")";
}

}  // namespace qkv::python
