#include "probe/probe_places.h"

#include <fmt/format.h>

namespace qkv::probe_detail {
namespace {

void check_index(std::string_view function, std::string_view argument, std::int64_t index, std::int64_t extent) {
  if (index >= 0 && index < extent) return;
  throw InvalidArgument(function, argument, fmt::format("0 to {}", extent - 1), fmt::to_string(index));
}

void check_range(std::string_view function, std::string_view argument, const KeyRange& range, std::int64_t extent) {
  if (range.begin >= 0 && range.begin <= range.end && range.end <= extent) return;
  throw InvalidArgument(function, argument, fmt::format("a range within [0, {}]", extent),
                        fmt::format("{} to {}", range.begin, range.end));
}

}  // namespace

void check_head(std::string_view function, const HeadPlace& head, const MaskShape& shape) {
  check_index(function, "b", head.b, shape.B);
  check_index(function, "h", head.h, shape.H);
}

void check_row(std::string_view function, const HeadPlace& head, std::int64_t i, const MaskShape& shape) {
  check_head(function, head, shape);
  check_index(function, "i", i, shape.Tq);
}

void check_queries(std::string_view function, const QueryRange& queries, const MaskShape& shape) {
  check_range(function, "queries", {queries.begin, queries.end}, shape.Tq);
  if (queries.begin == queries.end) throw InvalidArgument(function, "queries", "one query or more", "none");
  if (queries.step < 1) throw InvalidArgument(function, "queries.step", "1 or more", fmt::to_string(queries.step));
}

void check_tile(std::string_view function, const Tile& tile, const MaskShape& shape) {
  check_head(function, {tile.b, tile.h}, shape);
  check_range(function, "i_begin, i_end", {tile.i_begin, tile.i_end}, shape.Tq);
  check_range(function, "j_begin, j_end", {tile.j_begin, tile.j_end}, shape.Tk);
}

}  // namespace qkv::probe_detail
