// Pairs of elements turned by an angle that depends on the position.
#pragma once

#include "qkv/autograd/rotary.h"
#include "qkv/tensor.h"

namespace qkv::oracle {

/// x [B, H, T, D] with each pair (a, b) of its first dim elements turned into (a cos - b sin, a sin + b cos); the other
/// D - dim elements pass. The dtype of `x`; f64 inside.
[[nodiscard]] Tensor apply_rotary(const TensorView& x, const RotaryTables& tables);

}  // namespace qkv::oracle
