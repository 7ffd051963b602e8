#include "attention/fused_segments.h"

#include "attention/validate.h"
#include "mask/batch_entry.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::cpu::Forward;
using kernels::cpu::KvHeads;
using kernels::cpu::Segment;

constexpr TileSize kTiles = {kernels::kTile, kernels::kTile};

KvHeads heads_of(const TensorView& view) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  return {.first = {.base = static_cast<const std::byte*>(view.data()),
                    .dtype = view.dtype(),
                    .row_stride_bytes = view.strides()[1] * size},
          .head_stride_bytes = view.strides()[0] * size};
}

}  // namespace

std::size_t segments_of(const FusedCall& call) {
  return static_cast<std::size_t>(call.options.ragged ? documents_of(*call.options.ragged) : call.problem.shape.B);
}

int threads_of(const FusedCall& call) { return call.options.threads.value_or(threads()); }

MaskShape shape_of(const FusedCall& call, std::int64_t b) {
  return call.options.ragged ? document_shape(call.problem, *call.options.ragged, b) : call.problem.shape;
}

Segment segment_of(const FusedCall& call, const SegmentTensors& whole, std::int64_t b) {
  const MaskShape shape = shape_of(call, b);
  return {.b = b,
          .shape = shape,
          .window = window_of(call.options, b, shape),
          .q = queries_of(call, whole.q, b),
          .k = heads_of(keys_of(call, whole.k, b)),
          .v = heads_of(keys_of(call, whole.v, b))};
}

Forward forward_of(const FusedCall& call, std::span<const Segment> segments) {
  const kernels::Problem& problem = call.problem;
  return {.segments = segments,
          .problem = &problem,
          .dtype = problem.q.dtype(),
          .Hq = problem.q.dim(1),
          .Hk = problem.k.dim(1),
          .D = problem.q.dim(3),
          .Dv = problem.v.dim(3)};
}

void Plans::give(Segment& segment) {
  segment.plan = call_.options.ragged ? &of_document(segment) : &of_batch();
  segment.plan_b = call_.options.ragged ? 0 : segment.b;
}

const TilePlan& Plans::of_batch() {
  if (call_.options.plan != nullptr) return *call_.options.plan;
  if (call_.options.plans != nullptr) return call_.options.plans->of(call_.problem.mask, call_.problem.shape);
  if (made_.empty()) made_.emplace_back(call_.problem.mask, call_.problem.shape, kTiles);
  return made_.front();
}

const TilePlan& Plans::of_document(const Segment& segment) {
  const Mask& mask = call_.problem.mask;
  const MaskShape one = {.B = 1, .H = segment.shape.H, .Tq = segment.shape.Tq, .Tk = segment.shape.Tk};
  const TilePlan*& shared = by_lengths_[{one.Tq, one.Tk}];
  if (shared != nullptr && !mask.varies_by_batch()) return *shared;
  if (call_.options.plans != nullptr) {
    shared = &call_.options.plans->of_entry(mask, segment.b, segment.shape);
  } else {
    shared = &made_.emplace_back(batch_entry(mask, segment.b, segment.shape.B), one, kTiles);
  }
  return *shared;
}

}  // namespace qkv
