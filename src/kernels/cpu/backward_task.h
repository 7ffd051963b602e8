// A task of the backward pass. Compiled once, for any machine: the targets only call it.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/cpu/backward.h"
#include "kernels/cpu/row_sums.h"

namespace qkv::kernels::cpu {

/// Some neighbouring columns of keys of one key head, and all queries that see them.
struct BackwardTask {
  const BackwardSegment* segment = nullptr;
  std::int64_t key_head = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
  float* d_q = nullptr;  // of all lanes of the key head: [blocks][kTile][d_q_stride()]
  std::atomic<std::int64_t>* progress =
      nullptr;                    // for each task of this key head, the lane blocks that it is done with
  std::int64_t turn = 0;          // this one's place among them
  const RowSums* sums = nullptr;  // of the key head's blocks
};

/// Returns once all earlier tasks of the key head have added their share to the d_q of lane block `block`.
void wait_for_turn(const BackwardTask& task, std::int64_t block);

/// This task is done with `block` and those before.
void end_turn(const BackwardTask& task, std::int64_t block);

}  // namespace qkv::kernels::cpu
