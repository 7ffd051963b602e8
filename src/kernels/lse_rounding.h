// Tells whether a stored lse is too coarse to compute weights from, for backward passes and probes.
#pragma once

#include <cstdint>

namespace qkv::kernels {

/// A row's lse, and the size of the terms of its scores.
struct RowLse {
  double given = 0;
  double terms = 0;       // an upper bound of the sum of |scale q_d k_d| over visible pairs
  double unit = 0x1p-24;  // the unit roundoff of lse and of the scores
  std::int64_t D = 1;
  std::int64_t Tk = 1;
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
