// Products of a few rows with a weight as it lies: what a model does for each token that it generates.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels {

/// Whether few_rows() takes x [M, K] and a weight [N, K]: M at most 8, x of f32, bf16 or f16, a weight of one of these
/// whose rows are dense.
[[nodiscard]] bool takes_few_rows(const TensorView& x, const TensorView& weight);

/// out [M, N], dense, = x weight^T + bias [N] (null for none), each of any of these dtypes. The weight is read once, in
/// its own dtype, so a call of few rows takes the time of that reading. Sums are f32, in an order that depends on K
/// alone. Allocates f32 copies of x, bias and out where they are of another dtype, and of x where it is not dense.
void few_rows(const MutableTensorView& out, const TensorView& x, const TensorView& weight, const TensorView* bias);

}  // namespace qkv::kernels
