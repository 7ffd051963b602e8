// Dropout.
#pragma once

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

/// Each element is set to 0 with probability p; those that stay are divided by 1 - p. Element (..., j) in row n of the
/// last axis is kept where dropout_keeps(seed, p, {.i = n, .j = j}): the same in a second run and in the backward pass,
/// so no mask is kept. Returns x itself if p is 0. Throws InvalidArgument for a p outside [0, 1).
[[nodiscard]] Variable dropout(const Variable& x, const Dropout& dropout);

}  // namespace qkv
