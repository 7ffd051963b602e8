// A mask compiled over a shape: every tile of the Tq x Tk matrix is skipped, full or partial.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/mask.h"

namespace qkv {

struct TileSize {
  std::int64_t queries = 64;
  std::int64_t keys = 64;
};

/// What a mask costs when tiles that it hides are skipped.
struct TileCounts {
  std::int64_t skip = 0;
  std::int64_t full = 0;
  std::int64_t partial = 0;
  std::int64_t pairs_kept = 0;   // exact
  std::int64_t pairs_total = 0;  // B * H * Tq * Tk

  [[nodiscard]] std::int64_t total() const noexcept { return skip + full + partial; }
  /// Share of pairs kept; 0 where there are none.
  [[nodiscard]] double coverage() const noexcept;
  /// Share of tiles that must be computed; 0 where there are none.
  [[nodiscard]] double cost() const noexcept;
};

/// The plan of one (batch, head), or of all of them where the mask is the same for each. Exact: a tile is `partial`
/// only if it holds both visible and hidden pairs. Reusable for any call of the same shape. Allocates one byte a tile
/// and, for partial tiles, one bit a pair.
class TilePlan {
 public:
  TilePlan(const Mask& mask, const MaskShape& shape, TileSize size = {});

  [[nodiscard]] const MaskShape& shape() const noexcept { return shape_; }
  [[nodiscard]] TileSize tile_size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }

  [[nodiscard]] TileClass tile(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const;
  /// A partial tile's visible keys of query i (any i of that tile), bit c for key column * keys + c.
  [[nodiscard]] bool visible(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
  /// Over every batch entry and head of the shape.
  [[nodiscard]] TileCounts counts() const;

 private:
  MaskShape shape_;
  TileSize size_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

}  // namespace qkv
