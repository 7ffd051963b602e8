// Heads packed side by side in the last axis, as the projections of a layer make them, and heads of their own.
#pragma once

#include <cstdint>

#include "qkv/tensor.h"

namespace qkv {

/// [B, T, H * D] seen as [B, H, T, D]: a view of the same elements, any strides. Throws InvalidArgument naming x (rank)
/// or heads (does not divide the last axis).
[[nodiscard]] TensorView split_heads(const TensorView& x, std::int64_t heads);

/// [B, H, T, D] copied to [B, T, H * D]. Throws InvalidArgument naming x (rank).
[[nodiscard]] Tensor merge_heads(const TensorView& x);

}  // namespace qkv
