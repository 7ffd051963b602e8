#include "cluster/tile_count.h"

#include <algorithm>

#include "cluster/windows.h"
#include "qkv/tile_plan.h"

namespace qkv::cluster {
namespace {

constexpr std::int64_t tiles_along(std::int64_t begin, std::int64_t end) { return (end - begin + kTile - 1) / kTile; }

// Of a tile that begins at multiples of 64.
std::int64_t computed_in(const Mask& mask, const MaskShape& shape, const Tile& tile) {
  const TileClass is = mask.classify(tile, shape);
  if (is == TileClass::skip) return 0;
  const std::int64_t rows = tiles_along(tile.i_begin, tile.i_end);
  const std::int64_t columns = tiles_along(tile.j_begin, tile.j_end);
  if (is == TileClass::full || rows * columns == 1) return rows * columns;
  Tile first = tile;
  Tile second = tile;
  if (rows >= columns) {
    first.i_end = second.i_begin = tile.i_begin + rows / 2 * kTile;
  } else {
    first.j_end = second.j_begin = tile.j_begin + columns / 2 * kTile;
  }
  return computed_in(mask, shape, first) + computed_in(mask, shape, second);
}

}  // namespace

std::int64_t tiles_of(const Mask& mask, const MaskShape& shape, const SharePiece& queries, const SharePiece& keys) {
  if (shape.B == 0 || shape.H == 0 || queries.count == 0 || keys.count == 0) return 0;
  const Mask seen = within(mask, window_of(shape.Tq, shape.Tk, queries, keys));
  const MaskShape own = {.B = shape.B, .H = shape.H, .Tq = queries.count, .Tk = keys.count};
  const std::int64_t B = mask.varies_by_batch() ? shape.B : 1;
  const std::int64_t H = mask.varies_by_head() ? shape.H : 1;
  std::int64_t tiles = 0;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t h = 0; h < H; ++h) {
      tiles += computed_in(seen, own,
                           {.b = b, .h = h, .i_begin = 0, .i_end = queries.count, .j_begin = 0, .j_end = keys.count});
    }
  }
  return tiles * (shape.B / B) * (shape.H / H);
}

std::int64_t tiles_of(const Mask& mask, const MaskShape& shape, const std::vector<SharePiece>& queries,
                      const std::vector<SharePiece>& keys) {
  std::int64_t tiles = 0;
  for (const SharePiece& rows : queries) {
    for (const SharePiece& columns : keys) tiles += tiles_of(mask, shape, rows, columns);
  }
  return tiles;
}

}  // namespace qkv::cluster
