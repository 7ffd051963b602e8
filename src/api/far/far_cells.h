// Cells of a matrix of weights at some level, and what is kept of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "qkv/probe.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

/// The cells of a tile, or none where the mask hides all of it.
struct FarCells {
  Tensor mean;     // f16 [rows, columns]: log2 of the weight, -inf for 0
  Tensor largest;  // likewise
  Tensor visible;  // u8: 0 for none, 255 for all

  [[nodiscard]] bool is_hidden() const { return mean.empty(); }
  [[nodiscard]] std::size_t bytes() const;
};

/// How many queries and keys a cell has.
struct CellSide {
  std::int64_t queries = 1;
  std::int64_t keys = 1;
};

/// The cells of an area, f64 [rows, columns]; the last row and column have fewer pairs where the area is no multiple.
[[nodiscard]] CellMaps far_map(const Probe& probe, std::int64_t h, const MapArea& area, const CellSide& side,
                               const ProbeWatch& watch);

/// A rectangle of such maps, at most rows x columns from a cell on.
[[nodiscard]] FarCells far_cells(const CellMaps& maps, std::int64_t row, std::int64_t column, std::int64_t rows,
                                 std::int64_t columns);

/// Cells of twice the side under construction, from those of a level below: the largest of the largest, means by pairs.
class FoldedCells {
 public:
  FoldedCells(std::int64_t rows, std::int64_t columns);

  /// Adds the cells of a quarter of this tile, whose first one lies in cell [row, column]. `height` and `width` tell of
  /// how many queries and keys each of them is.
  void add(const FarCells& cells, std::int64_t row, std::int64_t column, std::span<const std::int64_t> height,
           std::span<const std::int64_t> width);
  [[nodiscard]] FarCells finished();

 private:
  Tensor pairs_;
  CellMaps sums_;
};

}  // namespace qkv::api_detail
