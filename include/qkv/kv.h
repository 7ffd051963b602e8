// Keys and values of earlier steps.
#pragma once

#include "qkv/tensor.h"

namespace qkv {

/// `past` [B, Hk, Tp, D] followed by `present` [B, Hk, T, D] along time: a new tensor [B, Hk, Tp + T, D]. Any strides;
/// either may be of length 0. Throws InvalidArgument naming present if dtypes or other extents differ.
[[nodiscard]] Tensor concat_time(const TensorView& past, const TensorView& present);

}  // namespace qkv
