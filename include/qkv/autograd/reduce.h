// Sums and means over axes.
#pragma once

#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

/// What becomes of the axes that were summed over.
enum class ReducedAxes : std::uint8_t { drop, keep };

/// The sum of all elements, of rank 0. Of f32, bf16 and f16 in f32, in an order that the shape fixes; rounded once.
[[nodiscard]] Variable sum(const Variable& x);
/// Over these axes; a negative one counts from the end. Throws InvalidArgument for an axis that x does not have or that
/// is named twice.
[[nodiscard]] Variable sum(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced = ReducedAxes::drop);

/// The sum divided by the number of elements summed; NaN of none.
[[nodiscard]] Variable mean(const Variable& x);
[[nodiscard]] Variable mean(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced = ReducedAxes::drop);

}  // namespace qkv
