// Sums and means over axes.
#pragma once

#include <vector>

#include "qkv/autograd/variable.h"

namespace qkv {

/// Whether the axes that are summed over stay, with extent 1.
enum class ReducedAxes : std::uint8_t { drop, keep };

/// The sum of all elements, of rank 0. f32, bf16 and f16 are summed in f32, in a fixed order, and rounded once.
[[nodiscard]] Variable sum(const Variable& x);
/// Over these axes; a negative one counts from the end. Throws InvalidArgument for an axis that x does not have or that
/// is named twice.
[[nodiscard]] Variable sum(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced = ReducedAxes::drop);

/// The sum divided by the number of elements; NaN if there are none.
[[nodiscard]] Variable mean(const Variable& x);
[[nodiscard]] Variable mean(const Variable& x, const std::vector<int>& axes, ReducedAxes reduced = ReducedAxes::drop);

}  // namespace qkv
