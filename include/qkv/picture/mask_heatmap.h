// A mask as a picture.
#pragma once

#include "qkv/picture/heatmap.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// One head of a mask, queries down and keys across. Up to `most_cells` queries and keys each pair is a cell, 1 where
/// visible and hidden elsewhere; a longer matrix is drawn by tiles of the plan, several to a cell where they are more
/// than `most_cells`: the share of pairs kept, hidden where there are none.
/// Throws InvalidArgument for a plan without pairs, a (b, h) outside of it, and most_cells below 1.
[[nodiscard]] Heatmap mask_heatmap(const TilePlan& plan, std::int64_t b = 0, std::int64_t h = 0,
                                   std::int64_t most_cells = 64);

}  // namespace qkv
