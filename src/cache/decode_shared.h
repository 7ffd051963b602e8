// A call over a cache some of whose sequences begin with the same pages.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "cache/shared_prefixes.h"
#include "kernels/cpu/shared_keys.h"

namespace qkv {

/// The call on the kernels: the queries of sequences that share a run of keys are put together, and meet it at once.
/// Holds references to the call and the plans.
class SharedCall {
 public:
  SharedCall(const DecodeCall& call, const SequencePlans& plans, const std::vector<SharedRun>& runs);
  SharedCall(const SharedCall&) = delete;
  SharedCall& operator=(const SharedCall&) = delete;

  [[nodiscard]] std::size_t scratch_bytes(const kernels::cpu::Target& target) const;
  /// q as the call's, last stride 1. `scratch` has scratch_bytes(), aligned to 64.
  void run(const kernels::cpu::Target& target, const TensorView& q, const MutableTensorView& out,
           const MutableTensorView& lse, std::span<std::byte> scratch);

 private:
  void add_shared(const SharedRun& run);
  void add_own(std::int64_t b, std::int64_t first_column);
  void add_run(const kernels::cpu::Segment& segment, const KeyRange& columns, const std::vector<std::int64_t>& members);
  [[nodiscard]] kernels::cpu::SharedForward forward() const;
  [[nodiscard]] std::size_t query_bytes() const;
  [[nodiscard]] TensorView gathered(const std::vector<std::int64_t>& sequences, const TensorView& q,
                                    std::byte* place) const;

  const DecodeCall& call_;
  const SequencePlans& plans_;
  std::deque<TilePlan> all_;  // of shared runs: every query sees every key
  // Of each run of keys:
  std::vector<kernels::cpu::Segment> runs_;
  std::vector<KeyRange> columns_;
  std::vector<std::vector<std::int64_t>> members_;
  std::vector<kernels::cpu::SharingSequence> sequences_;
};

}  // namespace qkv
