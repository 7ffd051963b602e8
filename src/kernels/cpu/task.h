// A task of a worker, and the functions of a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.h"
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/forward.h"

namespace qkv::kernels {

struct PanelLoops;
struct QuantisedLoops;
struct VectorLoops;

}  // namespace qkv::kernels

namespace qkv::kernels::cpu {

struct SplitLoops;

/// Neighbouring lane blocks of one key head, which share each tile of keys and values while it is near.
struct Task {
  const Segment* segment = nullptr;
  std::int64_t key_head = 0;
  std::int64_t first_block = 0;
  std::int64_t blocks = 0;
  KeyRange columns;                 // of the plan: where the keys are cut into pieces, those of one
  float* partial = nullptr;         // null: the task writes the result; else its blocks' running softmaxes go there,
  std::int64_t partial_stride = 0;  // so many floats from one to the next
};

/// The state of a block of `lanes` after some of its keys: their maxima, their sums, then a row of sums of values for
/// each.
[[nodiscard, gnu::always_inline]] inline std::int64_t partial_stride(std::int64_t Dv) { return (Dv + 15) / 16 * 16; }
[[nodiscard, gnu::always_inline]] inline std::int64_t partial_floats(std::int64_t lanes, std::int64_t Dv) {
  return 2 * kTile + lanes * partial_stride(Dv);
}

/// Where the states of the blocks of one segment and key head lie, for each piece of its keys.
struct KeptStates {
  const float* first = nullptr;
  std::int64_t pieces = 1;
  std::int64_t piece_stride = 0;  // floats
  std::int64_t block_stride = 0;
  std::int64_t Tq = 0;           // of that segment
  std::int64_t first_query = 0;  // the query of that segment which is query 0 of the segment to be written
};

/// A piece of 2,048 keys is long enough to hide its start and its share of the merge.
inline constexpr std::int64_t kFewestColumns = 32;
/// How many pieces a call may have beyond one per block.
inline constexpr std::int64_t kMostPieces = 256;

/// The numbers of a call's problem as a kernel wants them.
struct Settings {
  const Forward* call = nullptr;
  const Bias* bias = nullptr;  // null: zero
  float query_sign = 1;        // queries are multiplied by it: a scale of 0 or below becomes 1 or above
  float scale = 1;             // > 0
  float softcap = 0;
  float to_log2 = 1;  // from the kernel's scores to exponents of 2
  double to_nats = 1;
  DropoutRule dropout;
};

[[nodiscard]] Settings settings_of(const Forward& call);

struct BackwardTask;
struct RowSums;

/// The backward pass of one instruction set.
struct BackwardTarget {
  /// Columns of keys that a task of this call should have.
  std::int64_t (*columns_a_task)(const Forward& call) = nullptr;
  /// Floats of d_q of one lane block.
  std::int64_t (*d_q_floats)(const Forward& call) = nullptr;
  /// Bytes of scratch of one worker.
  std::size_t (*worker_bytes)(const Forward& call) = nullptr;
  /// largest[d] = the largest |k[j, d]| of the key head, NaN left out; D of them, and zeros up to a multiple of 16.
  void (*largest_key)(const Settings& settings, const BackwardTask& task, float* largest) = nullptr;
  /// Says whether lse is fine enough for the weights of a block; where it is not, sums its rows.
  void (*sum_rows)(const Settings& settings, const BackwardTask& task, std::int64_t block, const float* largest_key,
                   RowSums& sums, std::byte* scratch) = nullptr;
  void (*run)(const Settings& settings, const BackwardTask& task, std::byte* scratch) = nullptr;
  /// Writes d_q of a key head, once all its tasks have run.
  void (*finish)(const Settings& settings, const BackwardTask& task, std::byte* scratch) = nullptr;
};

/// One instruction set's kernels.
struct Target {
  const char* name;
  /// Lane blocks that a task of this call should have.
  std::int64_t (*blocks_a_task)(const Forward& call);
  /// Bytes of scratch of one worker.
  std::size_t (*worker_bytes)(const Forward& call);
  void (*run)(const Settings& settings, const Task& task, std::byte* scratch);
  /// Writes the result of a task of one block from the states that its queries have reached over their keys.
  void (*merge)(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch);
  /// TileLoops.
  void (*multiply)(const float* q, const float* k, std::int64_t queries, std::int64_t keys, std::int64_t D,
                   float* scores) = nullptr;
  void (*weigh)(const float* shift, const float* factor, std::int64_t keys, const float* scores,
                float* weights) = nullptr;
  BackwardTarget backward = {};
  const VectorLoops* loops = nullptr;         // null: those of the target's substitute
  const SplitLoops* split = nullptr;          // f32 products on a unit that multiplies bf16; likewise
  const QuantisedLoops* quantised = nullptr;  // products with quantised weights; likewise
  const PanelLoops* pairs = nullptr;          // products of pairs of bf16; likewise
};

/// Bytes of scratch from one worker to the next.
[[nodiscard]] inline std::size_t worker_stride(const Target& target, const Forward& call) {
  return core::aligned_bytes(target.worker_bytes(call));
}

}  // namespace qkv::kernels::cpu
