// Numbers as the sections show them, and the few sums that answer the whys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "qkv/explain.h"
#include "qkv/tensor.h"

namespace qkv::explain_detail {

/// As a cell shows it: "0.25", "-3.10"; "0" for zero and "≈0" for what rounds to it; "1.0 × 10⁹" from there on; "−∞",
/// "∞", "NaN".
[[nodiscard]] std::string shown(double value, int decimals = 4);
/// As a sentence says it: shown(), but "2.9 × 10⁻⁷" for what rounds to zero.
[[nodiscard]] std::string said(double value, int decimals = 4);
/// Its first minus sign as people write it: "−3.10".
[[nodiscard]] std::string with_minus(std::string text);
[[nodiscard]] Cell rounded(double value, int decimals = 4);
[[nodiscard]] Cell whole(std::int64_t value);
[[nodiscard]] Cell word(std::string text);

/// The engine's softmax of one row of scores.
[[nodiscard]] std::vector<double> softmax_of(std::span<const double> scores);

/// How a row of weights is spread: its largest weight, exp(entropy) (the number of keys that an even row of the same
/// entropy would have), and the Frobenius norm of the softmax's Jacobian diag(w) - w w^T.
struct Spread {
  double largest = 0;
  double effective_keys = 0;
  double jacobian = 0;
};
[[nodiscard]] Spread spread_of(std::span<const double> weights);

/// Means over the rows of weights [..., T] that see anything.
[[nodiscard]] Spread mean_spread(const TensorView& weights);

/// max |a - b| over tensors of one shape.
[[nodiscard]] double largest_difference(const TensorView& a, const TensorView& b);

/// One [rows, columns] matrix of a [..., rows, columns] tensor, copied as f64.
[[nodiscard]] Tensor matrix_of(const TensorView& tensor, std::int64_t head);

}  // namespace qkv::explain_detail
