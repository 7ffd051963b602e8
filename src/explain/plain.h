// The operations of autograd on plain tensors, for what stands beside the model: worked examples and whys.
#pragma once

#include "qkv/tensor.h"

namespace qkv::explain_detail {

/// a [..., M, K] times b [..., K, N], summed in f64 and rounded once to the dtype of `a`.
[[nodiscard]] Tensor matmul(const TensorView& a, const TensorView& b);

/// LayerNorm of each row, without weight and bias, in f64.
[[nodiscard]] Tensor layer_norm(const TensorView& x, double epsilon = 1e-5);

}  // namespace qkv::explain_detail
