// Sums over axes of dense values, in an order that the shape fixes.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "autograd/storage.h"

namespace qkv::autograd {

struct SumOptions {
  double factor = 1;                          // that the sums are multiplied with
  std::optional<DType> dtype = std::nullopt;  // of the result, f64 where x is and nowhere else; not given: that of x
};

/// x, dense, seen as extents [outer, middle, inner], summed over the middle: [outer, inner].
[[nodiscard]] Value sum_middle(const Value& x, const std::array<std::int64_t, 3>& extents,
                               const SumOptions& options = {});

/// The sum over what broadcasting `shape` to x's shape repeated. x itself where that is nothing.
[[nodiscard]] Value summed_to(const Value& x, const Shape& shape);

/// The shape that a and b broadcast to. Throws InvalidArgument(operation, "b", …) naming both shapes.
[[nodiscard]] Shape broadcast_shape(std::string_view operation, const Shape& a, const Shape& b);

}  // namespace qkv::autograd
