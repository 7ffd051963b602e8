// Attention of several sequences, some of whose keys are the same memory: these are read once for all of their queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/forward.h"

namespace qkv::kernels::cpu {

/// A sequence in a run: its query 0 is query first_query of the run's segment.
struct RunMember {
  std::size_t run = 0;
  std::int64_t first_query = 0;
};

/// Receives what its queries found in all of their runs.
struct SharingSequence {
  Segment segment;
  std::vector<RunMember> runs;
};

/// A validated call, without bias and dropout, which know of the batch entry. Each of forward's segments is a run of
/// keys that the same sequences read: one, or several whose queries lie one after the other in its q [Hq, sequences *
/// Tq, D]. Out and lse of runs are not used.
struct SharedForward {
  Forward forward;
  std::span<const KeyRange> columns;  // of the plan of each run
  std::span<const SharingSequence> sequences;
};

/// As those of ForwardRun for a call without shared keys, but forward_shared() allocates its list of tasks.
/// States over a run are merged by their maxima and sums (Juravsky et al. 2024).
[[nodiscard]] std::size_t shared_scratch_bytes(const Target& target, const SharedForward& call, int threads);
void forward_shared(const Target& target, const SharedForward& call, int threads, std::span<std::byte> scratch);

}  // namespace qkv::kernels::cpu
