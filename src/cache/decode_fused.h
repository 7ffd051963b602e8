// A validated call over a cache, and how it runs on the fused kernels.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string_view>

#include "kernels/cpu/forward.h"
#include "qkv/decode.h"

namespace qkv {

/// Holds references: its arguments must outlive it.
struct DecodeCall {
  const TensorView& q;
  const KvCacheView& cache;
  const AttentionOptions& options;
  kernels::Problem problem = {};  // validated; without k, v and their lengths

  /// The shape of sequence b for the problem's mask and bias.
  [[nodiscard]] MaskShape shape(std::int64_t b) const {
    return {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = cache.length(b)};
  }
};

/// A plan of kTile x kTile tiles for each sequence, shared by those of equal length if the mask does not vary by b.
class SequencePlans {
 public:
  explicit SequencePlans(const DecodeCall& call);
  [[nodiscard]] const TilePlan& operator[](std::int64_t b) const { return *plans_[static_cast<std::size_t>(b)]; }

 private:
  std::deque<TilePlan> made_;
  std::vector<const TilePlan*> plans_;
};

/// Sequence b of a call whose queries are q, without its plan, out and lse.
[[nodiscard]] kernels::cpu::Segment segment_of(const DecodeCall& call, const TensorView& q, std::int64_t b);
/// Where the segment's rows of the results go.
void direct(kernels::cpu::Segment& segment, const MutableTensorView& out, const MutableTensorView& lse);
[[nodiscard]] kernels::cpu::Forward forward_of(const DecodeCall& call, std::span<const kernels::cpu::Segment> segments);
[[nodiscard]] int threads_of(const DecodeCall& call);

[[nodiscard]] std::size_t decode_scratch_bytes(const DecodeCall& call, const kernels::cpu::Target& target);

/// Writes out and lse. Throws InvalidArgument naming `function` and scratch if it is too small, before anything is
/// written.
void decode_fused(std::string_view function, const DecodeCall& call, const kernels::cpu::Target& target,
                  const MutableTensorView& out, const MutableTensorView& lse);

}  // namespace qkv
