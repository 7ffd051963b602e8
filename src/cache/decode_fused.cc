#include "cache/decode_fused.h"

#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "attention/dense_rows.h"
#include "cache/decode_shared.h"
#include "cache/kv_rows.h"
#include "cache/shared_prefixes.h"
#include "core/bytes.h"
#include "kernels/cpu/forward_run.h"
#include "mask/batch_entry.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::cpu::Forward;
using kernels::cpu::KvHeads;
using kernels::cpu::Segment;

KvHeads heads_of(const kernels::KvRows& first, const TensorView& rows, const TensorView& scales) {
  KvHeads heads = {.first = first,
                   .head_stride_bytes = rows.strides()[1] * static_cast<std::int64_t>(size_of(rows.dtype()))};
  if (first.scales != nullptr) heads.head_scale_stride = scales.strides()[1];
  return heads;
}

std::vector<Segment> segments_of(const DecodeCall& call, const TensorView& q) {
  std::vector<Segment> segments;
  for (std::int64_t b = 0; b < q.dim(0); ++b) segments.push_back(segment_of(call, q, b));
  return segments;
}

}  // namespace

Segment segment_of(const DecodeCall& call, const TensorView& q, std::int64_t b) {
  const KvBuffers& buffers = call.cache.buffers();
  return {.b = b,
          .shape = call.shape(b),
          .q = q.select(0, b),
          .k = heads_of(key_rows(call.cache, b, 0), buffers.k, buffers.k_scales),
          .v = heads_of(value_rows(call.cache, b, 0), buffers.v, buffers.v_scales)};
}

void direct(Segment& segment, const MutableTensorView& out, const MutableTensorView& lse) {
  segment.write_to(out.select(0, segment.b), lse.select(0, segment.b));
}

Forward forward_of(const DecodeCall& call, std::span<const Segment> segments) {
  return {.segments = segments,
          .dtype = call.q.dtype(),
          .Hq = call.q.dim(1),
          .Hk = call.cache.Hk(),
          .D = call.q.dim(3),
          .Dv = call.cache.Dv(),
          .scale = call.scale(),
          .softcap = call.options.softcap,
          .bias = call.options.bias.is_zero() ? nullptr : &call.options.bias,
          .dropout = call.options.dropout,
          .sinks = call.options.sinks};
}

int threads_of(const DecodeCall& call) { return call.options.threads.value_or(threads()); }

double DecodeCall::scale() const { return options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3)))); }

SequencePlans::SequencePlans(const DecodeCall& call) {
  const Mask& mask = call.options.mask;
  std::map<std::int64_t, const TilePlan*> by_length;
  for (std::int64_t b = 0; b < call.q.dim(0); ++b) {
    const MaskShape whole = call.shape(b);
    const TilePlan*& plan = by_length[whole.Tk];
    if (plan == nullptr || mask.varies_by_batch()) {
      plan = &made_.emplace_back(batch_entry(mask, b, whole.B),
                                 MaskShape{.B = 1, .H = whole.H, .Tq = whole.Tq, .Tk = whole.Tk},
                                 TileSize{kernels::kTile, kernels::kTile});
    }
    plans_.push_back(plan);
  }
}

namespace {

// What a call reads beside q: every sequence by itself, or shared runs of keys.
struct Layout {
  explicit Layout(const DecodeCall& call) : plans(call), runs(shared_runs(call, plans)) {
    if (!runs.empty()) shared.emplace(call, plans, runs);
  }

  [[nodiscard]] std::size_t kernel_bytes(const DecodeCall& call, const kernels::cpu::Target& target) const {
    if (shared) return shared->scratch_bytes(target);
    const std::vector<Segment> segments = segments_of(call, call.q);
    return kernels::cpu::ForwardRun(target, forward_of(call, segments), threads_of(call)).scratch_bytes();
  }

  SequencePlans plans;
  std::vector<SharedRun> runs;
  std::optional<SharedCall> shared;
};

std::size_t bytes_of(const Layout& layout, const DecodeCall& call, const kernels::cpu::Target& target) {
  return core::checked_sum(
      "decode", {core::kAlignment, core::aligned_bytes(bytes_of_rows(call.q)), layout.kernel_bytes(call, target)});
}

}  // namespace

std::size_t decode_scratch_bytes(const DecodeCall& call, const kernels::cpu::Target& target) {
  return bytes_of(Layout(call), call, target);
}

void decode_fused(std::string_view function, const DecodeCall& call, const kernels::cpu::Target& target,
                  const MutableTensorView& out, const MutableTensorView& lse) {
  Layout layout(call);
  const std::size_t needed = bytes_of(layout, call, target);
  std::span<std::byte> scratch = call.options.scratch;
  std::unique_ptr<std::byte[]> own;  // NOLINT(*-avoid-c-arrays): left uninitialised
  if (scratch.empty()) {
    own.reset(new std::byte[needed]);
    scratch = {own.get(), needed};
  }
  if (scratch.size() < needed) {
    throw InvalidArgument(function, "scratch", std::to_string(needed) + " bytes or more",
                          std::to_string(scratch.size()));
  }
  const std::span<std::byte> place = core::aligned(scratch);
  const TensorView q = with_rows(call.q, place.data());
  const std::span<std::byte> rest = place.subspan(core::aligned_bytes(bytes_of_rows(call.q)));
  if (layout.shared) return layout.shared->run(target, q, out, lse, rest);
  std::vector<Segment> segments = segments_of(call, q);
  for (Segment& segment : segments) {
    segment.plan = &layout.plans[segment.b];
    direct(segment, out, lse);
  }
  kernels::cpu::ForwardRun(target, forward_of(call, segments), threads_of(call)).run(rest);
}

}  // namespace qkv
