#include "attention/fused.h"

#include "attention/call_memory.h"
#include "attention/dense_rows.h"
#include "attention/fused_segments.h"
#include "kernels/cpu/forward_run.h"

namespace qkv {
namespace {

using kernels::cpu::ForwardRun;
using kernels::cpu::Segment;

SegmentTensors tensors_of(const FusedCall& call) {
  return {.q = call.problem.q, .k = call.problem.k, .v = call.problem.v};
}

void build(const FusedCall& call, const SegmentTensors& whole, std::span<Segment> segments) {
  for (std::size_t n = 0; n < segments.size(); ++n) {
    segments[n] = segment_of(call, whole, static_cast<std::int64_t>(n));
  }
}

std::size_t bytes_behind(const SegmentTensors& whole, const ForwardRun& run) {
  return core::checked_sum("attention",
                           {bytes_of_rows({&whole.q, &whole.k, &whole.v}), core::aligned_bytes(run.scratch_bytes())});
}

}  // namespace

std::size_t scratch_bytes(const FusedCall& call) {
  const SegmentTensors whole = tensors_of(call);
  const CallMemory<Segment> memory({}, segments_of(call));
  build(call, whole, memory.segments());
  const ForwardRun run(call.target, forward_of(call, memory.segments()), threads_of(call));
  return memory.needed("attention", bytes_behind(whole, run));
}

void run_fused(std::string_view function, const FusedCall& call, const MutableTensorView& out,
               const MutableTensorView& lse) {
  SegmentTensors whole = tensors_of(call);
  CallMemory<Segment> memory(call.options.scratch, segments_of(call));
  const std::span<Segment> segments = memory.segments();
  build(call, whole, segments);
  ForwardRun run(call.target, forward_of(call, segments), threads_of(call));
  std::byte* place = memory.behind(function, bytes_behind(whole, run));
  if (copy_rows({&whole.q, &whole.k, &whole.v}, place)) build(call, whole, segments);
  Plans plans(call);
  for (Segment& segment : segments) {
    segment.write_to(queries_of(call, out, segment.b), queries_of(call, lse, segment.b));
    plans.give(segment);
  }
  run.run({place, run.scratch_bytes()});
}

}  // namespace qkv
