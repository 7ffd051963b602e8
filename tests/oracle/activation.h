// Functions of one element, each in f64.
#pragma once

#include "qkv/nn/activation.h"
#include "qkv/tensor.h"

namespace qkv::oracle {

[[nodiscard]] double activate(Activation activation, double x) noexcept;

/// Element by element, same shape and dtype.
[[nodiscard]] Tensor activate(Activation activation, const TensorView& x);

}  // namespace qkv::oracle
