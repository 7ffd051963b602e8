// Rows of a table, and sums of rows into one.
#pragma once

#include <cstdint>

#include "qkv/autograd/variable.h"

namespace qkv {

/// Rows of `table` [N, D] at ids [...] of i64 or i32 -> [..., D], in the dtype of the table. Negative ids do not wrap.
/// Of a quantised table those rows alone become f32, and it is a constant. The gradient of a row is the sum over the
/// positions that used it, in order. Throws InvalidArgument naming table, or ids and the id out of range.
[[nodiscard]] Variable embedding(const Variable& table, const TensorView& ids);

/// The sums of rows [M, D] at ids [M] of i64 or i32 -> [count, D]: row n is the sum of those whose id is n, in order,
/// computed in f32 (of f64 in f64) and rounded once; 0 where there is none. Throws InvalidArgument naming rows, ids or
/// count.
[[nodiscard]] Variable scatter_rows(const Variable& rows, const TensorView& ids, std::int64_t count);

}  // namespace qkv
