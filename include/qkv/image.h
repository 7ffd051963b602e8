// Pictures as models see them.
#pragma once

#include <cstdint>

#include "qkv/tensor.h"

namespace qkv {

/// A picture as a model sees it: u8 [H, W, 3] -> f32 [3, side, side] in [0, 1]. Each axis is brought to `side` on its
/// own: a longer one by the mean over the area of each pixel, a shorter one by bilinear interpolation between the
/// middles of pixels. Allocates the result and one picture of [H, side]. Throws InvalidArgument naming picture or side.
[[nodiscard]] Tensor image_of(const TensorView& picture, std::int64_t side);

}  // namespace qkv
