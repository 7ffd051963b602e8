// A mask as a map.
#pragma once

#include "qkv/api/mask.h"

namespace qkv::api_detail {

/// Queries and keys of a mask that is drawn.
inline constexpr std::int64_t kMostDrawn = std::int64_t{1} << 17;

/// Throws InvalidArgument naming `tq` or `tk` if there are more.
void require_drawable(const MaskRequest& request);

[[nodiscard]] MaskMap mask_map(const TilePlan& plan, const MaskRequest& request);

}  // namespace qkv::api_detail
