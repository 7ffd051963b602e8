// Random calls of attention for property tests, and what rounding may do to them.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/attention.h"

namespace qkv::testing_attention {

/// Everything of one call in f64. Mask and bias are dense, so that a test can permute them.
struct Call {
  Tensor q;        // [B, Hq, Tq, D]
  Tensor k;        // [B, Hk, Tk, D]
  Tensor v;        // [B, Hk, Tk, Dv]
  Tensor visible;  // b8 [B, Hq, Tq, Tk]
  Tensor bias;     // [B, Hq, Tq, Tk]
  std::optional<double> scale;
  std::optional<double> softcap;

  [[nodiscard]] AttentionOptions options() const;
  [[nodiscard]] AttentionResult run() const { return attention(q, k, v, options()); }
};

/// Drawn by RapidCheck: small extents (lengths may be 0), grouped heads, Dv != D, some rows that see nothing.
[[nodiscard]] Call any_call();

/// A permutation of 0 … n-1, drawn by RapidCheck.
[[nodiscard]] std::vector<std::int64_t> any_order(std::int64_t n);

/// The slices order[0], order[1], … of `axis`, as a new tensor.
[[nodiscard]] Tensor take(const TensorView& x, int axis, const std::vector<std::int64_t>& order);

/// Bounds on what f64 rounding does to one row, each for one evaluation: twice as much may lie between two.
/// With u = 2^-53 and M the largest sum of |scale q_d k_d| plus |bias| of a pair:
struct RoundingBounds {
  double score;   // (D + 8) u M: a dot product, the scale, tanh and the bias
  double weight;  // relative: 2 score + (Tk + 4) u, from exp of two scores and the row's sum
  double out;     // (weight + (Tk + 1) u) max|v|
};
[[nodiscard]] RoundingBounds rounding_bounds(const Call& call);

/// The largest |a - b| over all elements; 0 where they are equal, infinities included.
[[nodiscard]] double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace qkv::testing_attention
