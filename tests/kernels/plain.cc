#include "kernels/plain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cases/plain.h"
#include "kernels/reference/attention.h"

namespace qkv::kernels {

Results plain(const Problem& problem, const TensorView& v) {
  const MaskShape& shape = problem.shape;
  const AttentionOptions options = {.scale = problem.scale,
                                    .softcap = problem.softcap,
                                    .bias = problem.bias,
                                    .mask = problem.mask,
                                    .dropout = problem.dropout,
                                    .sinks = problem.sinks};
  const std::vector<double> q = problem.q.to_vector();
  const std::vector<double> k = problem.k.to_vector();
  const std::vector<double> values = v.to_vector();
  cases::PlainResult result = cases::run_plain({.shape = shape,
                                                .Hk = shape.H / problem.group,
                                                .D = problem.q.dim(3),
                                                .Dv = v.dim(3),
                                                .dtype = problem.q.dtype(),
                                                .q = q,
                                                .k = k,
                                                .v = values,
                                                .options = options});
  return {.out = Tensor(result.out, {shape.B, shape.H, shape.Tq, v.dim(3)}),
          .lse = Tensor(result.lse, {shape.B, shape.H, shape.Tq})};
}

Results exact(const Problem& problem, const TensorView& v) {
  const MaskShape& shape = problem.shape;
  Results results = {.out = Tensor(DType::f64, {shape.B, shape.H, shape.Tq, v.dim(3)}),
                     .lse = Tensor(DType::f64, {shape.B, shape.H, shape.Tq})};
  Problem whole = problem;
  whole.v = v;
  reference::forward(whole, results.out, results.lse);
  return results;
}

double error_of(const TensorView& got, const TensorView& expected) {
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  double error = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n] == b[n] || (std::isnan(a[n]) && std::isnan(b[n]))) continue;
    const bool both_finite = std::isfinite(a[n]) && std::isfinite(b[n]);
    error = std::max(error, both_finite ? std::abs(a[n] - b[n]) : std::numeric_limits<double>::infinity());
  }
  return error;
}

double rms_error(const TensorView& got, const TensorView& expected) {
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = expected.to_vector();
  double squares = 0;
  for (std::size_t n = 0; n < a.size(); ++n) squares += (a[n] - b[n]) * (a[n] - b[n]);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

}  // namespace qkv::kernels
