// Softmax of one row in float64.
#pragma once

#include <span>

namespace qkv::kernels::reference {

/// Log of the sum of exp(scores), the maximum taken out first; -inf for a row of -inf alone or of no element.
[[nodiscard]] double log_sum_exp(std::span<const double> scores);

/// exp(scores) / sum of exp(scores); zeros for a row of -inf alone. Returns log_sum_exp(scores).
double softmax_row(std::span<const double> scores, std::span<double> weights);

}  // namespace qkv::kernels::reference
