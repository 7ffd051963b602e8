// An image as a page paints it.
#pragma once

#include "qkv/tensor.h"

namespace qkv::api_detail {

/// u8 [height, width, 3] of colours [3, height, width] in [0, 1]; what lies beyond becomes the nearest end.
[[nodiscard]] Tensor shown_image(const TensorView& colours);

}  // namespace qkv::api_detail
