// C = A B of views, in pieces fixed by the shape.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels {

/// out [..., M, N], dense, = a [..., M, K] b [..., K, N]; the leading axes of a and b broadcast to those of out. a and
/// b have one dtype, or any two that few_rows() takes; out has that of a, or is f32. `bias` [N], dense, in f32 or the
/// dtype of a, is added where it is not null.
void multiply(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias = nullptr);

}  // namespace qkv::kernels
