#include "kernels/row_delta.h"

#include <array>

namespace qkv::kernels {

RowDelta::RowDelta(const BackwardProblem& problem)
    : problem_(problem), out_(static_cast<std::size_t>(problem.problem.v.dim(3))), d_out_(out_) {}

double RowDelta::of(std::int64_t b, std::int64_t h, std::int64_t i) {
  const std::array place = {b, h, i};
  problem_.out.load_row(place, out_);
  problem_.d_out.load_row(place, d_out_);
  double sum = 0;
  for (std::size_t d = 0; d < out_.size(); ++d) {
    if (out_[d] != 0) sum += d_out_[d] * out_[d];
  }
  return problem_.d_lse ? sum - problem_.d_lse->at({b, h, i}) : sum;
}

}  // namespace qkv::kernels
