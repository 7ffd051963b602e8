// Elements of any views, converted and added.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels {

/// Any view of f64, f32, bf16 or f16 into `out` of its shape, converting with one rounding.
void copy_elements(const TensorView& from, const MutableTensorView& out);

/// to += from, of one dtype and shape.
void add_elements(const TensorView& from, const MutableTensorView& to);

}  // namespace qkv::kernels
