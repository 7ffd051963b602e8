// The size of a tile, which every kernel and probe shares.
#pragma once

#include <cstdint>

namespace qkv::kernels {

/// Queries and keys of a tile; the plan of a segment has this tile size.
inline constexpr std::int64_t kTile = 64;

}  // namespace qkv::kernels
