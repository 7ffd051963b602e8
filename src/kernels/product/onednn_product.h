// Products by oneDNN, where they are faster than ours: of 16 bits on a tile unit. no_onednn.cc has none.
#pragma once

#include <memory>

#include "kernels/product/packed_weight.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// Of factors of this dtype, on this machine and its chosen target.
[[nodiscard]] bool onednn_is_faster(DType dtype);

/// out [..., M, N], dense, = a [..., M, K] b [..., K, N] + bias [N]; a and b of one dtype of which onednn_is_faster(),
/// K at least 1. Sums do not depend on threads.
void multiply_by_onednn(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias);

/// Null where oneDNN lays out none.
[[nodiscard]] std::shared_ptr<const PackedWeight> onednn_weight(const TensorView& weight, DType dtype);

}  // namespace qkv::kernels
