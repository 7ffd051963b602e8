#include "attention/fused_backward.h"

#include "attention/call_memory.h"
#include "attention/dense_rows.h"
#include "attention/fused_segments.h"
#include "kernels/cpu/backward_run.h"

namespace qkv {
namespace {

using kernels::BackwardProblem;
using kernels::cpu::Backward;
using kernels::cpu::BackwardRun;
using kernels::cpu::BackwardSegment;
using kernels::cpu::GradientRows;

constexpr std::string_view kOfBackward = "attention_backward";

GradientRows rows_of(const MutableTensorView& view) {
  return {.base = static_cast<std::byte*>(view.data()),
          .dtype = view.dtype(),
          .head_stride = view.strides()[0],
          .row_stride = view.strides()[1]};
}

struct BackwardTensors {
  SegmentTensors forward;
  TensorView out;
  TensorView d_out;
};

BackwardTensors tensors_of(const BackwardProblem& problem) {
  return {.forward = {.q = problem.problem.q, .k = problem.problem.k, .v = problem.problem.v},
          .out = problem.out,
          .d_out = problem.d_out};
}

std::size_t bytes_behind(const BackwardTensors& whole, const BackwardRun& run) {
  const auto& [forward, out, d_out] = whole;
  return core::checked_sum(kOfBackward, {bytes_of_rows({&forward.q, &forward.k, &forward.v, &out, &d_out}),
                                         core::aligned_bytes(run.scratch_bytes())});
}

BackwardSegment segment_of(const FusedCall& call, const BackwardProblem& problem, const BackwardTensors& whole,
                           std::int64_t b) {
  BackwardSegment segment;
  segment.forward = segment_of(call, whole.forward, b);
  segment.out = queries_of(call, whole.out, b);
  segment.lse = queries_of(call, problem.lse, b);
  segment.d_out = queries_of(call, whole.d_out, b);
  if (problem.d_lse) segment.d_lse = queries_of(call, *problem.d_lse, b);
  if (problem.d_q) segment.d_q = rows_of(queries_of(call, *problem.d_q, b));
  if (problem.d_k) segment.d_k = rows_of(keys_of(call, *problem.d_k, b));
  if (problem.d_v) segment.d_v = rows_of(keys_of(call, *problem.d_v, b));
  return segment;
}

void build(const FusedCall& call, const BackwardProblem& problem, const BackwardTensors& whole,
           std::span<BackwardSegment> segments) {
  for (std::size_t n = 0; n < segments.size(); ++n) {
    segments[n] = segment_of(call, problem, whole, static_cast<std::int64_t>(n));
  }
}

Backward backward_of(const FusedCall& call, std::span<const BackwardSegment> segments) {
  return {.forward = forward_of(call, {}), .segments = segments};
}

}  // namespace

std::size_t backward_scratch_bytes(const FusedCall& call, const BackwardProblem& problem) {
  const BackwardTensors whole = tensors_of(problem);
  const CallMemory<BackwardSegment> memory({}, segments_of(call));
  build(call, problem, whole, memory.segments());
  const BackwardRun run(call.target, backward_of(call, memory.segments()), threads_of(call));
  return memory.needed(kOfBackward, bytes_behind(whole, run));
}

void run_fused_backward(const FusedCall& call, const BackwardProblem& problem, std::span<std::byte> scratch) {
  BackwardTensors whole = tensors_of(problem);
  CallMemory<BackwardSegment> memory(scratch, segments_of(call));
  const std::span<BackwardSegment> segments = memory.segments();
  build(call, problem, whole, segments);
  BackwardRun run(call.target, backward_of(call, segments), threads_of(call));
  std::byte* place = memory.behind(kOfBackward, bytes_behind(whole, run));
  auto& [forward, out, d_out] = whole;
  if (copy_rows({&forward.q, &forward.k, &forward.v, &out, &d_out}, place)) build(call, problem, whole, segments);
  Plans plans(call);
  for (BackwardSegment& segment : segments) plans.give(segment.forward);
  run.run({place, run.scratch_bytes()});
}

}  // namespace qkv
