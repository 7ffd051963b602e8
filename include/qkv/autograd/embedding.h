// Rows of a table.
#pragma once

#include "qkv/autograd/variable.h"

namespace qkv {

/// Rows of `table` [N, D] at ids [...] of i64 or i32 -> [..., D], in the dtype of the table. Negative ids do not wrap.
/// Of a quantised table those rows alone become f32, and it is a constant. The gradient of a row is the sum over the
/// positions that used it, in order. Throws InvalidArgument naming table, or ids and the id out of range.
[[nodiscard]] Variable embedding(const Variable& table, const TensorView& ids);

}  // namespace qkv
