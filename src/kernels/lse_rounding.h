// Where an lse that was stored is too coarse to make weights of: what a backward pass and a probe must know of it.
#pragma once

#include <cstdint>

namespace qkv::kernels {

/// A row's lse and what its scores are summed from.
struct RowLse {
  double given = 0;
  double terms = 0;       // no sum of |scale q_d k_d| of a visible pair is larger
  double unit = 0x1p-24;  // what a number of lse's type, and of the scores', is rounded by
  std::int64_t D = 1;
  std::int64_t Tk = 1;
};

/// True where exp(score - given) is as good as a weight that its row's own sum divides: rounding lse to 32 bits is then
/// off by at most 2^-20, which is what rounding the scores themselves does, and scores that two kernels sum in two
/// orders differ by about 2^-16.
[[nodiscard]] bool is_fine_enough(const RowLse& row);

/// True where `own`, the lse of the call's own keys and sink, and the given one differ by no more than rounding: then
/// the given one is theirs too, and not that of more keys. Scores may be off by (sqrt(D) + 4) units of their terms in
/// either pass, twice that being rare (Higham and Mary 2019).
[[nodiscard]] bool is_of_own_keys(const RowLse& row, double own);

}  // namespace qkv::kernels
