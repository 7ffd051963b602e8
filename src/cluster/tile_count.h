// How many tiles of a mask are computed, without a look at each of them.
#pragma once

#include <vector>

#include "qkv/cluster/shares.h"

namespace qkv::cluster {

/// The tiles of 64 x 64 that are not skipped of these queries with these keys, for every head and batch entry of
/// `shape`, which is the whole matrix's. What the mask skips or fills as a whole is not looked into: under causal() the
/// steps grow with the length, not with its square.
[[nodiscard]] std::int64_t tiles_of(const Mask& mask, const MaskShape& shape, const SharePiece& queries,
                                    const SharePiece& keys);
/// Of each of some pieces of queries with each of some pieces of keys.
[[nodiscard]] std::int64_t tiles_of(const Mask& mask, const MaskShape& shape, const std::vector<SharePiece>& queries,
                                    const std::vector<SharePiece>& keys);

}  // namespace qkv::cluster
