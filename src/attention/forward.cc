#include <array>

#include "attention/fused.h"
#include "attention/outputs.h"
#include "attention/ragged.h"
#include "attention/validate.h"
#include "core/watched.h"
#include "kernels/reference/attention.h"
#include "kernels/targets.h"
#include "qkv/attention.h"

namespace qkv {
namespace {

void run_reference(const kernels::Problem& problem, const AttentionOptions& options, const MutableTensorView& out,
                   const MutableTensorView& lse) {
  if (!options.ragged) return kernels::reference::forward(problem, out, lse);
  for (std::int64_t n = 0; n < documents_of(*options.ragged); ++n) {
    const KeyRange queries = document_of(*options.ragged, n).queries;
    kernels::reference::forward(document_problem(problem, options, n), out.slice(2, queries.begin, queries.end),
                                lse.slice(2, queries.begin, queries.end));
  }
}

void run(std::string_view function, std::string_view target, const kernels::Problem& problem,
         const AttentionOptions& options, const MutableTensorView& out, const MutableTensorView& lse) {
  const std::array<NamedReach, 3> inputs = {NamedReach{"q", reach_of(problem.q)}, NamedReach{"k", reach_of(problem.k)},
                                            NamedReach{"v", reach_of(problem.v)}};
  validate_outputs(
      function, {.q = problem.q, .Dv = problem.v.dim(3), .out = out, .lse = lse, .scratch = options.scratch}, inputs);
  const core::Watched watched(options.watch);
  const kernels::cpu::Target* fused = kernels::cpu::find_target(target);  // null for the reference
  if (fused == nullptr) {
    run_reference(problem, options, out, lse);
  } else {
    run_fused(function, {.target = *fused, .problem = problem, .options = options}, out, lse);
  }
}

std::vector<Tensor> compute_stages(std::string_view function, const TensorView& q, const TensorView& k,
                                   const AttentionOptions& options, std::span<const Stage> stages, DType dtype) {
  const kernels::Problem problem = validated(function, q, k, options);
  if (!is_floating(dtype)) throw InvalidArgument(function, "dtype", "f64, f32, f16 or bf16", name_of(dtype));
  const core::Watched watched(options.watch);
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
  const kernels::Problem problem = validated_batch("attention", q, k, v, options);
  const std::string_view target = kernels::target_for("attention", q.dtype(), options.target);
  AttentionResult result = {.out = Tensor(q.dtype(), {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}),
                            .lse = Tensor(lse_dtype(q.dtype()), {q.dim(0), q.dim(1), q.dim(2)})};
  run("attention", target, problem, options, result.out, result.lse);
  return result;
}

void attention_into(const MutableTensorView& out, const MutableTensorView& lse, const TensorView& q,
                    const TensorView& k, const TensorView& v, const AttentionOptions& options) {
  const kernels::Problem problem = validated_batch("attention_into", q, k, v, options);
  const std::string_view target = kernels::target_for("attention_into", q.dtype(), options.target);
  run("attention_into", target, problem, options, out, lse);
}

std::size_t attention_scratch_bytes(const TensorView& q, const TensorView& k, const TensorView& v,
                                    const AttentionOptions& options) {
  const kernels::Problem problem = validated_batch("attention_scratch_bytes", q, k, v, options);
  const std::string_view target = kernels::target_for("attention_scratch_bytes", q.dtype(), options.target);
  const kernels::cpu::Target* fused = kernels::cpu::find_target(target);
  if (fused == nullptr) return 0;
  return scratch_bytes({.target = *fused, .problem = problem, .options = options});
}

std::string_view attention_target(DType dtype, const AttentionOptions& options) {
  if (!is_floating(dtype)) throw InvalidArgument("attention_target", "dtype", "f64, f32, f16 or bf16", name_of(dtype));
  return kernels::serving_target(kernels::target_for("attention_target", dtype, options.target), dtype);
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
