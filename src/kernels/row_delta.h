// delta, which the backward pass subtracts from every d_weight of a row.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backward_problem.h"

namespace qkv::kernels {

class RowDelta {
 public:
  explicit RowDelta(const BackwardProblem& problem);

  /// The sum of d_out * out minus d_lse, in f64, of query i. d_out is not used where out is 0, as in a row that sees
  /// nothing.
  [[nodiscard]] double of(std::int64_t b, std::int64_t h, std::int64_t i);

 private:
  const BackwardProblem& problem_;
  std::vector<double> out_;
  std::vector<double> d_out_;
};

}  // namespace qkv::kernels
