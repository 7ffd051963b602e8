// A matrix product as its definition is written.
#pragma once

#include "qkv/tensor.h"

namespace qkv::oracle {

/// a [..., M, K] times b [K, N] -> [..., M, N], in the dtype of `a`; any strides. Each element is one f64 sum over
/// k = 0, 1, …, K-1, rounded once.
[[nodiscard]] Tensor matmul(const TensorView& a, const TensorView& b);

}  // namespace qkv::oracle
