// Softmax of one row in float64.
#pragma once

#include <optional>
#include <span>

namespace qkv::kernels::reference {

/// Log of the sum of exp(scores), the maximum taken out first; -inf for a row of -inf alone or of no element.
[[nodiscard]] double log_sum_exp(std::span<const double> scores);

/// exp(scores) / sum of exp(scores); zeros for a row of -inf alone. Returns the log of the sum. A sink is one more
/// score of the row, which has no weight to write.
double softmax_row(std::span<const double> scores, std::span<double> weights,
                   std::optional<double> sink = std::nullopt);

}  // namespace qkv::kernels::reference
