// A backward call with its tasks, which are made once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/bytes.h"
#include "kernels/cpu/backward.h"
#include "kernels/cpu/backward_task.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/row_sums.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

using TaskCounter = std::atomic<std::int64_t>;
static_assert(sizeof(TaskCounter) == sizeof(std::int64_t));

/// Tasks are numbered by segment, then group of key heads, then range of keys, then head of the group. A group has one
/// head per worker, so that workers seldom wait. All tasks of a key head add to its d_q, which lies in one of as many
/// slots as there are workers.
class BackwardTasks {
 public:
  BackwardTasks(const Target& target, const Backward& call, const BlockSums& sums, int threads)
      : target_(target),
        call_(call),
        sums_(sums),
        columns_(std::clamp<std::int64_t>(columns() / kFewTasks, 1, target.backward.columns_a_task(call.forward))),
        slots_(std::min<std::int64_t>(threads, heads())) {
    for (const BackwardSegment& segment : call_.segments) {
      count_ += call_.forward.Hk * tasks_a_head(segment);
      const LaneBlocks blocks(segment.forward.shape.Tq, call_.forward.group());
      const std::int64_t floats = blocks.count() * target_.backward.d_q_floats(call_.forward);
      slot_floats_ = std::max(slot_floats_, round_up(floats, kTile));
    }
  }

  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Scratch: the first task of each segment, the progress of every task, the tasks left of every key head, then d_q.
  [[nodiscard]] std::size_t shared_bytes() const {
    return core::checked_sum("attention_backward",
                             {static_cast<std::uint64_t>(counter_bytes()),
                              core::checked_bytes("attention_backward", {slots_, slot_floats_}, sizeof(float))});
  }

  void keep_shared_in(std::byte* place) {
    first_ = {reinterpret_cast<std::int64_t*>(place), call_.segments.size()};
    progress_ = reinterpret_cast<TaskCounter*>(place + first_.size_bytes());
    left_ = progress_ + count_;
    d_q_ = reinterpret_cast<float*>(place + counter_bytes());
    for (std::int64_t n = 0; n < count_; ++n) std::construct_at(progress_ + n, 0);
    std::int64_t task = 0;
    TaskCounter* left = left_;
    for (std::size_t n = 0; n < first_.size(); ++n) {
      const std::int64_t a_head = tasks_a_head(call_.segments[n]);
      std::construct_at(&first_[n], task);
      for (std::int64_t h = 0; h < call_.forward.Hk; ++h) std::construct_at(left++, a_head);
      task += call_.forward.Hk * a_head;
    }
  }

  void run(const Settings& settings, std::int64_t n, std::byte* scratch) const {
    const auto place = std::upper_bound(first_.begin(), first_.end(), n) - first_.begin() - 1;
    const std::int64_t first = first_[static_cast<std::size_t>(place)];
    const BackwardSegment& segment = call_.segments[static_cast<std::size_t>(place)];
    const std::int64_t a_head = tasks_a_head(segment);
    const std::int64_t group = (n - first) / (slots_ * a_head) * slots_;
    const std::int64_t in_group = n - first - group * a_head;
    const std::int64_t heads = std::min(slots_, call_.forward.Hk - group);
    const std::int64_t key_head = group + in_group % heads;
    const std::int64_t turn = in_group / heads;
    const std::int64_t head = place * call_.forward.Hk + key_head;
    run({.segment = &segment,
         .key_head = key_head,
         .first_column = turn * columns_,
         .columns = std::min(columns_, columns_of(segment) - turn * columns_),
         .d_q = d_q_ + head % slots_ * slot_floats_,
         .progress = progress_ + first + key_head * a_head,
         .turn = turn,
         .sums = sums_.of(static_cast<std::size_t>(place), key_head)},
        settings, head, scratch);
  }

 private:
  static constexpr std::int64_t kReleased = -1;
  // A call has at least this many tasks, if it has as many ranges of keys.
  static constexpr std::int64_t kFewTasks = 8;

  // Of all key heads together.
  [[nodiscard]] std::int64_t columns() const {
    std::int64_t columns = 0;
    for (const BackwardSegment& segment : call_.segments) columns += call_.forward.Hk * columns_of(segment);
    return columns;
  }

  [[nodiscard]] std::int64_t heads() const {
    return static_cast<std::int64_t>(call_.segments.size()) * call_.forward.Hk;
  }

  [[nodiscard]] std::int64_t counter_bytes() const {
    const auto numbers = static_cast<std::int64_t>(call_.segments.size()) + count_ + heads();
    return round_up(numbers * static_cast<std::int64_t>(sizeof(TaskCounter)), kTile);
  }

  // At least one even without keys, since d_q must be written.
  [[nodiscard]] std::int64_t tasks_a_head(const BackwardSegment& segment) const {
    return std::max<std::int64_t>(1, (columns_of(segment) + columns_ - 1) / columns_);
  }

  static std::int64_t columns_of(const BackwardSegment& segment) {
    return (segment.forward.shape.Tk + kTile - 1) / kTile;
  }

  void run(const BackwardTask& task, const Settings& settings, std::int64_t head, std::byte* scratch) const;

  const Target& target_;
  const Backward& call_;
  const BlockSums& sums_;
  std::int64_t columns_;
  std::int64_t slots_;
  std::int64_t count_ = 0;
  std::int64_t slot_floats_ = 0;
  std::span<std::int64_t> first_;
  TaskCounter* progress_ = nullptr;
  TaskCounter* left_ = nullptr;
  float* d_q_ = nullptr;
};

/// The segments of the call must outlive the run. Until run() they may change, but for their shapes and dtypes.
class BackwardRun {
 public:
  /// With `threads` workers, each of which keeps d_q of one key head's queries in f32.
  BackwardRun(const Target& target, const Backward& call, int threads);
  BackwardRun(const BackwardRun&) = delete;
  BackwardRun& operator=(const BackwardRun&) = delete;

  /// Bytes that run() needs; 64-byte alignment.
  [[nodiscard]] std::size_t scratch_bytes() const;

  /// Writes every gradient that is wanted. `scratch` has scratch_bytes() bytes, aligned to 64. Allocates nothing. The
  /// result does not depend on `threads`: a block of queries gets the shares of its keys in their order.
  /// Dao 2023, algorithm 2.
  void run(std::span<std::byte> scratch);

 private:
  const Target& target_;
  const Backward call_;
  int threads_;
  BlockSums sums_;
  BackwardTasks tasks_;
  std::size_t worker_bytes_;
};

}  // namespace qkv::kernels::cpu
