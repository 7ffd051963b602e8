// Operations that change shapes. Those of one variable share its elements if strides can express the result, else they
// copy. Negative axes count from the end.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

/// The same elements in row-major order with another shape. Copies only if x is not dense. Throws InvalidArgument
/// naming shape if the sizes differ.
[[nodiscard]] Variable reshape(const Variable& x, const Shape& shape);

/// Axis n of the result is axis axes[n] of x; shares. Throws InvalidArgument unless `axes` names each axis once.
[[nodiscard]] Variable permute(const Variable& x, const std::vector<int>& axes);

/// Two axes exchanged; shares. Throws InvalidArgument naming the axis.
[[nodiscard]] Variable transpose(const Variable& x, int axis_a, int axis_b);

/// Indices begin to end - 1 of an axis; shares. Throws InvalidArgument naming the axis or the range.
[[nodiscard]] Variable slice(const Variable& x, int axis, std::int64_t begin, std::int64_t end);

/// Joins variables of one dtype, and of one shape except along `axis`. Throws InvalidArgument naming the parts if there
/// are none or they do not fit.
[[nodiscard]] Variable concat(const std::vector<Variable>& parts, int axis);

/// [B, T, H * D] -> [B, H, T, D]; shares. Throws InvalidArgument naming x or heads.
[[nodiscard]] Variable split_heads(const Variable& x, std::int64_t heads);
/// [B, H, T, D] -> [B, T, H * D]. Shares the results of attention() and split_heads(); copies others.
[[nodiscard]] Variable merge_heads(const Variable& x);

}  // namespace qkv
