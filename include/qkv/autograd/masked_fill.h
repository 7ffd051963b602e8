// Elements that are left out.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// `value` where `hidden`, b8 and broadcast to the shape of x, is true; x elsewhere, whatever stands at the hidden
/// places, NaN too. These get the gradient 0. Throws InvalidArgument naming x or hidden.
[[nodiscard]] Variable masked_fill(const Variable& x, const TensorView& hidden, double value);

}  // namespace qkv
