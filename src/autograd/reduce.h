// Sums over axes of dense values, in an order that the shape fixes.
#pragma once

#include <string_view>

#include "autograd/storage.h"

namespace qkv::autograd {

/// x, dense, seen as [outer, middle, inner], summed over the middle: [outer, inner] times `factor`, in x's dtype.
[[nodiscard]] Value sum_middle(const Value& x, std::int64_t outer, std::int64_t middle, std::int64_t inner,
                               double factor = 1);

/// The sum over what broadcasting `shape` to x's shape repeated. x itself where that is nothing.
[[nodiscard]] Value summed_to(const Value& x, const Shape& shape);

/// The shape that a and b broadcast to. Throws InvalidArgument(operation, "b", …) naming both shapes.
[[nodiscard]] Shape broadcast_shape(std::string_view operation, const Shape& a, const Shape& b);

}  // namespace qkv::autograd
