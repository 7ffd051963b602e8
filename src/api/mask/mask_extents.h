// Bounds of what a mask is laid over.
#pragma once

#include <cstdint>

#include "qkv/api/mask.h"

namespace qkv::api_detail {

struct MaskBounds {
  std::int64_t least = 1;                        // of each extent
  std::int64_t longest = std::int64_t{1} << 40;  // of queries and keys
};

[[nodiscard]] Fields<MaskRequest> mask_fields_within(const MaskBounds& bounds);

}  // namespace qkv::api_detail
