// Elements replaced where a mask is true.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// `value` where `hidden` (b8, broadcast to the shape of x) is true, else x. Hidden elements of x may be NaN; their
/// gradient is 0. Throws InvalidArgument naming x or hidden.
[[nodiscard]] Variable masked_fill(const Variable& x, const TensorView& hidden, double value);

}  // namespace qkv
