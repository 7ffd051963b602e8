// Heads, queries, keys and maps that a probe is asked for, and its answers as arrays.
#pragma once

#include "arrays.h"
#include "qkv/gradient_probe.h"
#include "qkv/probe.h"

namespace qkv::python {

/// A range of queries or keys: None is all of them, else a slice or a pair (begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};
[[nodiscard]] Range range_of(std::string_view function, std::string_view name, nb::handle range, std::int64_t length);

/// The same without a step.
[[nodiscard]] Tile tile_of(std::string_view function, const MaskShape& shape, HeadPlace head, nb::handle queries,
                           nb::handle keys);

/// As map() of Python has them.
struct MapArguments {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t b;
  std::optional<std::vector<std::int64_t>> heads;
  nb::object queries;
  nb::object keys;
  std::string of;
};
[[nodiscard]] MapRequest map_request(std::string_view function, const MaskShape& shape, const MapArguments& arguments);

[[nodiscard]] nb::object given(CellMaps maps);

/// (B, Hq, Tq, Tk)
[[nodiscard]] nb::tuple given(const MaskShape& shape);

/// "qkv.Probe(B=1, Hq=8, Tq=128, Tk=128)"
[[nodiscard]] std::string said_of(std::string_view type, const MaskShape& shape);

}  // namespace qkv::python
