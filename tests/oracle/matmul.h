// The one matrix product of the layers.
#pragma once

#include "qkv/tensor.h"

namespace qkv {

/// a [..., M, K] times b [K, N] -> [..., M, N], in the dtype of `a`; any strides, so that b may be a transposed view.
/// Each element is one f64 sum over k = 0, 1, …, K-1, rounded once: no blocking changes a result. Allocates the result,
/// M * K and 8 * K doubles. Throws InvalidArgument naming a or b for a rank, width or dtype that does not fit.
[[nodiscard]] Tensor matmul(const TensorView& a, const TensorView& b);

}  // namespace qkv
