// Softmax of one row in float64.
#pragma once

#include <optional>
#include <span>

namespace qkv::kernels::reference {

/// The maximum and sum of a row: its weights are exp(score - max) / sum.
struct RowSum {
  double max;
  double sum;  // of exp(score - max), the sink's included

  /// -inf for a row that sees nothing and has no sink.
  [[nodiscard]] double lse() const;
};

/// A sink is one more score of the row.
[[nodiscard]] RowSum sum_row(std::span<const double> scores, std::optional<double> sink);

/// exp(scores) / sum of exp(scores); zeros for a row of -inf alone. Returns the log of the sum. A sink is one more
/// score of the row, which has no weight to write.
double softmax_row(std::span<const double> scores, std::span<double> weights,
                   std::optional<double> sink = std::nullopt);

}  // namespace qkv::kernels::reference
