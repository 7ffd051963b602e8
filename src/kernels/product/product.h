// C = A B of views, in pieces fixed by the shape.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels {

/// The dtype in which this machine multiplies matrices of `dtype`: f32 for bf16 or f16 where it has no instructions for
/// them, else `dtype` itself.
[[nodiscard]] DType product_dtype(DType dtype);

/// out [..., M, N], dense, = a [..., M, K] b [..., K, N]; the leading axes of a and b broadcast to those of out. a and
/// b have one dtype, or any two of f32, bf16 and f16; out has that of a, or is f32. `bias` [N], dense, in f32 or the
/// dtype of a, is added where it is not null. Allocates panels of a and b of some MB.
void multiply(const MutableTensorView& out, const TensorView& a, const TensorView& b, const TensorView* bias = nullptr);

}  // namespace qkv::kernels
