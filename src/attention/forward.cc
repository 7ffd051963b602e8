#include "attention/validate.h"
#include "kernels/reference/attention.h"
#include "qkv/attention.h"

namespace qkv {
namespace {

std::vector<Tensor> compute_stages(std::string_view function, const TensorView& q, const TensorView& k,
                                   const AttentionOptions& options, std::span<const Stage> stages, DType dtype) {
  const kernels::Problem problem = validated(function, q, k, options);
  if (!is_floating(dtype)) throw InvalidArgument(function, "dtype", "f64, f32, f16 or bf16", name_of(dtype));
  const auto [B, H, Tq, Tk] = problem.shape;
  std::vector<Tensor> results;
  results.reserve(stages.size());
  for (std::size_t n = 0; n < stages.size(); ++n) results.emplace_back(dtype, Shape{B, H, Tq, Tk});
  kernels::reference::write_stages(problem, stages, results);
  return results;
}

}  // namespace

AttentionResult attention(const TensorView& q, const TensorView& k, const TensorView& v,
                          const AttentionOptions& options) {
  const kernels::Problem problem = validated("attention", q, k, options);
  validate_values("attention", k, v);
  const auto [B, H, Tq, Tk] = problem.shape;
  AttentionResult result = {.out = Tensor(q.dtype(), {B, H, Tq, v.dim(3)}),
                            .lse = Tensor(q.dtype() == DType::f64 ? DType::f64 : DType::f32, {B, H, Tq})};
  kernels::reference::forward(problem, v, result.out, result.lse);
  return result;
}

Tensor attention_stage(const TensorView& q, const TensorView& k, const AttentionOptions& options, Stage stage,
                       DType dtype) {
  return std::move(compute_stages("attention_stage", q, k, options, {&stage, 1}, dtype).front());
}

std::vector<Tensor> attention_stages(const TensorView& q, const TensorView& k, const AttentionOptions& options,
                                     std::initializer_list<Stage> stages, DType dtype) {
  return compute_stages("attention_stages", q, k, options, {stages.begin(), stages.size()}, dtype);
}

}  // namespace qkv
