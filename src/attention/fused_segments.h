// The batch entries or documents of a call, in the form of the fused kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>

#include "attention/fused.h"
#include "attention/ragged.h"

namespace qkv {

/// q, k and v of a call, [B, H, T, …], last stride 1.
struct SegmentTensors {
  TensorView q;
  TensorView k;
  TensorView v;
};

[[nodiscard]] std::size_t segments_of(const FusedCall& call);
[[nodiscard]] int threads_of(const FusedCall& call);
[[nodiscard]] MaskShape shape_of(const FusedCall& call, std::int64_t b);

/// Entry b, or document b, of a tensor that has a row for each query, without its first axis.
template <class View>
[[nodiscard]] View queries_of(const FusedCall& call, const View& whole, std::int64_t b) {
  if (!call.options.ragged) return whole.select(0, b);
  const KeyRange queries = document_of(*call.options.ragged, b).queries;
  return whole.slice(2, queries.begin, queries.end).select(0, 0);
}

/// The same of one that has a row for each key.
template <class View>
[[nodiscard]] View keys_of(const FusedCall& call, const View& whole, std::int64_t b) {
  if (!call.options.ragged) return whole.select(0, b);
  const KeyRange keys = document_of(*call.options.ragged, b).keys;
  return whole.slice(2, keys.begin, keys.end).select(0, 0);
}

/// Without a plan, out and lse.
[[nodiscard]] kernels::cpu::Segment segment_of(const FusedCall& call, const SegmentTensors& whole, std::int64_t b);

[[nodiscard]] kernels::cpu::Forward forward_of(const FusedCall& call, std::span<const kernels::cpu::Segment> segments);

/// The plans of a call. Documents of equal lengths share one, unless the mask varies by batch entry. Must outlive the
/// segments that use a plan.
class Plans {
 public:
  explicit Plans(const FusedCall& call) : call_(call) {}

  void give(kernels::cpu::Segment& segment);

 private:
  const TilePlan& of_batch();
  const TilePlan& of_document(const kernels::cpu::Segment& segment);

  const FusedCall& call_;
  std::list<TilePlan> made_;  // a list, so that pointers stay valid
  std::map<std::pair<std::int64_t, std::int64_t>, const TilePlan*> by_lengths_;
};

}  // namespace qkv
