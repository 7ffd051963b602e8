#include "cache/decode_fused.h"

#include <bit>
#include <memory>
#include <optional>
#include <string>

#include "attention/dense_rows.h"
#include "attention/validate.h"
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
  const MaskShape shape = call.shape(b);
  return {.b = b,
          .shape = shape,
          .window = window_of(call.options, b, shape),
          .q = q.select(0, b),
          .k = heads_of(key_rows(call.cache, b, 0), buffers.k, buffers.k_scales),
          .v = heads_of(value_rows(call.cache, b, 0), buffers.v, buffers.v_scales)};
}

void direct(Segment& segment, const MutableTensorView& out, const MutableTensorView& lse) {
  segment.write_to(out.select(0, segment.b), lse.select(0, segment.b));
}

Forward forward_of(const DecodeCall& call, std::span<const Segment> segments) {
  return {.segments = segments,
          .problem = &call.problem,
          .dtype = call.q.dtype(),
          .Hq = call.q.dim(1),
          .Hk = call.cache.Hk(),
          .D = call.q.dim(3),
          .Dv = call.cache.Dv()};
}

int threads_of(const DecodeCall& call) { return call.options.threads.value_or(threads()); }

SequencePlans::SequencePlans(const DecodeCall& call) {
  const Mask& mask = call.problem.mask;
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

// What a call reads: every sequence by itself, or shared runs of keys.
class Layout {
 public:
  Layout(const DecodeCall& call, const kernels::cpu::Target& target)
      : call_(call), target_(target), plans_(call), runs_(shared_runs(call, plans_)) {
    if (!runs_.empty()) {
      shared_.emplace(call, plans_, runs_);
    } else {
      segments_ = segments_of(call, call.q);
      own_.emplace(target, forward_of(call, segments_), threads_of(call));
    }
  }

  /// Scratch for a copy of q, if its last stride is not 1, and behind it the kernels' own.
  [[nodiscard]] std::size_t bytes() const {
    const std::size_t kernel = shared_ ? shared_->scratch_bytes(target_) : own_->scratch_bytes();
    return core::checked_sum("decode", {core::kAlignment, core::aligned_bytes(bytes_of_rows(call_.q)), kernel});
  }

  void run(const MutableTensorView& out, const MutableTensorView& lse, std::span<std::byte> scratch) {
    TensorView q = call_.q;
    std::byte* place = core::aligned(scratch).data();
    const bool copied = copy_rows({&q}, place);
    const std::span<std::byte> rest = {place, scratch.data() + scratch.size()};
    if (shared_) return shared_->run(target_, q, out, lse, rest);
    for (Segment& segment : segments_) {
      if (copied) segment.q = q.select(0, segment.b);
      segment.plan = &plans_[segment.b];
      direct(segment, out, lse);
    }
    own_->run(rest);
  }

 private:
  const DecodeCall& call_;
  const kernels::cpu::Target& target_;
  SequencePlans plans_;
  std::vector<SharedRun> runs_;
  std::optional<SharedCall> shared_;
  std::vector<Segment> segments_;
  std::optional<kernels::cpu::ForwardRun> own_;
};

}  // namespace

std::size_t decode_scratch_bytes(const DecodeCall& call, const kernels::cpu::Target& target) {
  return Layout(call, target).bytes();
}

void decode_fused(std::string_view function, const DecodeCall& call, const kernels::cpu::Target& target,
                  const MutableTensorView& out, const MutableTensorView& lse) {
  Layout layout(call, target);
  const std::size_t needed = layout.bytes();
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
  layout.run(out, lse, scratch);
}

}  // namespace qkv
