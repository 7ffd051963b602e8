// A mask compiled over a shape: every tile of the Tq x Tk matrix is skipped, full or partial.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "qkv/mask.h"

namespace qkv {

struct TileSize {
  std::int64_t queries = 64;
  std::int64_t keys = 64;
};

/// What a mask costs if hidden tiles are skipped.
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

/// The plan of every (batch, head), stored once if the mask is the same for all. Exact: a tile is
/// `partial` only if it holds both visible and hidden pairs. Reusable for any call of the same shape, and cheap to
/// copy. Allocates four bytes for each tile from the first to the last of a row that is not skipped, and one bit
/// for each pair of each distinct partial tile.
class TilePlan {
 public:
  /// Throws InvalidArgument if the mask does not fit the shape, the shape has 2^63 pairs or more, or an extent of
  /// `size` is below 1. The last tile of a row or column may be smaller.
  TilePlan(const Mask& mask, const MaskShape& shape, TileSize size = {}) : TilePlan(mask, shape, size, {}) {}
  /// Told after each row of tiles of a head how many rows are done, of how many; what it throws ends the planning.
  using Watch = std::function<void(std::int64_t done, std::int64_t rows)>;
  TilePlan(const Mask& mask, const MaskShape& shape, TileSize size, const Watch& watch);

  [[nodiscard]] const MaskShape& shape() const noexcept { return shape_; }
  /// No more than the matrix's own extents.
  [[nodiscard]] TileSize tile_size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }

  [[nodiscard]] TileClass tile(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const;
  /// The columns of a row of tiles that are not all skipped: every tile outside them is.
  [[nodiscard]] KeyRange columns_of(std::int64_t b, std::int64_t h, std::int64_t row) const;
  /// A partial tile's visible pairs: words_per_row() words for each of its queries, bit c of a row's words for its c-th
  /// key. Empty for other tiles.
  [[nodiscard]] std::span<const std::uint64_t> bits(std::int64_t b, std::int64_t h, std::int64_t row,
                                                    std::int64_t column) const;
  [[nodiscard]] std::int64_t words_per_row() const noexcept { return (size_.keys - 1) / 64 + 1; }
  /// True if query i sees key j.
  [[nodiscard]] bool visible(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
  /// How many pairs of a tile are visible.
  [[nodiscard]] std::int64_t pairs_kept(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const;
  /// Over every batch entry and head of the shape.
  [[nodiscard]] TileCounts counts() const;

 private:
  struct Head;
  class Builder;

  [[nodiscard]] const Head& head(std::int64_t b, std::int64_t h) const;
  [[nodiscard]] Tile extent(std::int64_t b, std::int64_t h, std::int64_t row, const KeyRange& columns) const;
  void require_few(const Mask& mask) const;
  void require_inside(std::int64_t row, std::int64_t column) const;

  MaskShape shape_;
  TileSize size_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  MaskShape distinct_;  // B and H of the heads that are kept: 1 where the mask does not vary
  std::shared_ptr<const std::vector<Head>> heads_;
};

}  // namespace qkv
