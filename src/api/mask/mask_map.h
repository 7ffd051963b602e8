// A mask as a map.
#pragma once

#include "qkv/api/mask.h"

namespace qkv::api_detail {

/// Throws InvalidArgument naming an extent of which no map is made.
void require_drawable(const MaskRequest& request);

[[nodiscard]] MaskMap mask_map(const TilePlan& plan, const MaskRequest& request);

}  // namespace qkv::api_detail
