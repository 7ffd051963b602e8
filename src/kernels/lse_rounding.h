// An lse and a scale in f32, and whether a stored lse is too coarse for weights, for backward passes and probes.
#pragma once

#include <cstdint>
#include <limits>

namespace qkv::kernels {

inline constexpr double kMostFloat = std::numeric_limits<float>::max();

/// An lse in the 32 bits of a result: one beyond their range is the largest or the lowest float, since -inf says that
/// the row sees nothing.
[[nodiscard, gnu::always_inline]] inline float stored_lse(double lse) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (lse > kMostFloat) return static_cast<float>(kMostFloat);
  if (lse < -kMostFloat && lse > -kInfinity) return static_cast<float>(-kMostFloat);
  return static_cast<float>(lse);
}

/// A scale as gradients in f32 are multiplied by it: one beyond its range would make NaN of the zeros of rows that give
/// all their weight to one key, as such scales do.
[[nodiscard, gnu::always_inline]] inline float stored_scale(double scale) {
  return static_cast<float>(scale > kMostFloat ? kMostFloat : scale < -kMostFloat ? -kMostFloat : scale);
}

/// A row's lse, and the size of the terms of its scores.
struct RowLse {
  double given = 0;
  double terms = 0;       // an upper bound of the sum of |scale q_d k_d| over visible pairs; NaN where q has one
  double unit = 0x1p-24;  // the unit roundoff of lse and of the scores
  std::int64_t D = 1;
  std::int64_t Tk = 1;
  bool of_more_keys = false;  // the call has a part of the keys that lse is of
};

/// True if exp(score - given) is as accurate as a weight divided by its row's own sum: rounding lse to 32 bits is then
/// off by at most 2^-20, as is rounding the scores themselves. Scores that two kernels sum in two orders differ by
/// about 2^-16.
[[nodiscard]] bool is_fine_enough(const RowLse& row);

/// True if `own`, the lse of the call's keys and sink, and the given lse differ by no more than rounding: then the
/// given one is of the same keys and not of more. Scores may be off by (sqrt(D) + 4) units of their terms in either
/// pass; twice that is rare (Higham and Mary 2019).
[[nodiscard]] bool is_of_own_keys(const RowLse& row, double own);

}  // namespace qkv::kernels
