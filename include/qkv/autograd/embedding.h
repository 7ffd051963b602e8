// Rows of a table, and numbers that are left out at random.
#pragma once

#include "qkv/autograd/variable.h"
#include "qkv/random.h"

namespace qkv {

/// Rows of `table` [N, D] at ids [...] of i64 or i32 -> [..., D], in the dtype of the table. Negative ids do not wrap.
/// The gradient of a row is the sum over the places that took it, in their order. Throws InvalidArgument naming table,
/// or ids and the id that lies outside.
[[nodiscard]] Variable embedding(const Variable& table, const TensorView& ids);

/// Each element is set to 0 with probability p; those that stay are divided by 1 - p. Element (..., j) in row n of the
/// last axis is kept where dropout_keeps(seed, p, {.i = n, .j = j}): the same in a second run and in the walk back,
/// which keeps nothing. x itself where p is 0. Throws InvalidArgument for a p outside [0, 1).
[[nodiscard]] Variable dropout(const Variable& x, const Dropout& dropout);

}  // namespace qkv
