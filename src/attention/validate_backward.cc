#include "attention/validate_backward.h"

#include "attention/check.h"
#include "attention/outputs.h"

namespace qkv {
namespace {

void check_like(const Check& check, std::string_view argument, const TensorView& view, const Shape& shape,
                std::string_view axes, DType dtype) {
  check.that(
      view.shape() == shape, argument, [&] { return fmt::format("{} = {}", axes, shape.to_string()); }, view.shape());
  check.that(view.dtype() == dtype, argument, dtype, view.dtype());
}

}  // namespace

void validate_backward(std::string_view function, const kernels::BackwardProblem& problem) {
  const Check check(function);
  const TensorView& q = problem.problem.q;
  const Shape rows = {q.dim(0), q.dim(1), q.dim(2)};
  const Shape out = {q.dim(0), q.dim(1), q.dim(2), problem.problem.v.dim(3)};
  check_like(check, "d_out", problem.d_out, out, "[B, Hq, Tq, Dv]", q.dtype());
  check_like(check, "out", problem.out, out, "[B, Hq, Tq, Dv]", q.dtype());
  check_like(check, "lse", problem.lse, rows, "[B, Hq, Tq]", lse_dtype(q.dtype()));
  if (problem.d_lse) check_like(check, "d_lse", *problem.d_lse, rows, "[B, Hq, Tq]", lse_dtype(q.dtype()));
}

}  // namespace qkv
