// The tasks of a forward call, in the order in which they start.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {

/// Counts of tasks and blocks before a segment.
struct TasksBefore {
  std::int64_t tasks = 0;
  std::int64_t merges = 0;
  std::int64_t partial_floats = 0;
};

/// Tasks are numbered by segment, then key head, then block, last block first: under a causal mask it has most work. If
/// keys are split, by block and piece of its keys.
class TaskList {
 public:
  TaskList(const Forward& call, std::int64_t most_blocks) : call_(call) {
    std::int64_t columns = 0;
    for (const Segment& segment : call_.segments) {
      columns += columns_of(segment) * call_.Hk;
      blocks_ += blocks_of(segment) * call_.Hk;
    }
    blocks_a_task_ = std::clamp<std::int64_t>(blocks_ / kFewTasks, 1, most_blocks);
    piece_columns_ = round_up(std::max(kFewestColumns, columns / kMostPieces), kFewestColumns);
    for (const Segment& segment : call_.segments) all_ = after(all_, segment);
  }

  [[nodiscard]] std::int64_t count() const { return all_.tasks; }
  /// Blocks whose keys are split.
  [[nodiscard]] std::int64_t merges() const { return all_.merges; }
  /// Scratch for the list itself, then for the states of pieces.
  [[nodiscard]] std::int64_t list_floats() const {
    const auto bytes = static_cast<std::int64_t>(call_.segments.size() * sizeof(TasksBefore));
    return round_up(bytes, kTile) / static_cast<std::int64_t>(sizeof(float));
  }
  [[nodiscard]] std::int64_t partial_floats() const { return all_.partial_floats; }

  void keep_in(float* scratch) {
    before_ = {reinterpret_cast<TasksBefore*>(scratch), call_.segments.size()};
    TasksBefore next;
    for (std::size_t n = 0; n < before_.size(); ++n) {
      std::construct_at(&before_[n], next);
      next = after(next, call_.segments[n]);
    }
    partials_ = scratch + list_floats();
  }

  [[nodiscard]] Task operator[](std::int64_t n) const {
    const auto [segment, before] = holding(n, &TasksBefore::tasks);
    n -= before.tasks;
    if (const std::int64_t pieces = pieces_of(segment); pieces > 1) {
      Task task = block_task(segment, n / pieces, before.partial_floats);
      const std::int64_t piece = n % pieces;
      task.columns.begin = piece * piece_columns_;
      task.columns.end = std::min(task.columns.begin + piece_columns_, task.columns.end);
      task.partial += piece * floats_of_state(segment);
      return task;
    }
    const std::int64_t a_head = tasks_a_head(segment);
    const std::int64_t first = (a_head - 1 - n % a_head) * blocks_a_task_;
    return {.segment = &segment,
            .key_head = n / a_head,
            .first_block = first,
            .blocks = std::min(blocks_a_task_, blocks_of(segment) - first),
            .columns = {0, columns_of(segment)}};
  }

  struct Merge {
    Task task;
    KeptStates states;
  };

  [[nodiscard]] Merge merge(std::int64_t n) const {
    const auto [segment, before] = holding(n, &TasksBefore::merges);
    const Task task = block_task(segment, n - before.merges, before.partial_floats);
    return {.task = task,
            .states = {.first = task.partial - task.first_block * floats_of_block(segment),
                       .pieces = pieces_of(segment),
                       .piece_stride = floats_of_state(segment),
                       .block_stride = floats_of_block(segment),
                       .Tq = segment.shape.Tq}};
  }

 private:
  static std::int64_t columns_of(const Segment& segment) { return (segment.shape.Tk + kTile - 1) / kTile; }

  // With fewer blocks in the call, each task has one block, and keys are split even if a key head has several blocks.
  static constexpr std::int64_t kFewTasks = 8;

  [[nodiscard]] std::int64_t blocks_of(const Segment& segment) const {
    return LaneBlocks(segment.shape.Tq, call_.group()).count();
  }

  [[nodiscard]] std::int64_t tasks_a_head(const Segment& segment) const {
    return (blocks_of(segment) + blocks_a_task_ - 1) / blocks_a_task_;
  }

  [[nodiscard]] std::int64_t pieces_of(const Segment& segment) const {
    if (blocks_of(segment) != 1 && blocks_ >= kFewTasks) return 1;
    return std::max<std::int64_t>(1, (columns_of(segment) + piece_columns_ - 1) / piece_columns_);
  }

  [[nodiscard]] std::int64_t floats_of_state(const Segment& segment) const {
    return cpu::partial_floats(std::min(kTile, segment.shape.Tq * call_.group()), call_.Dv);
  }

  [[nodiscard]] std::int64_t floats_of_block(const Segment& segment) const {
    return pieces_of(segment) * floats_of_state(segment);
  }

  [[nodiscard]] TasksBefore after(const TasksBefore& before, const Segment& segment) const {
    const std::int64_t pieces = pieces_of(segment);
    const std::int64_t cut = pieces > 1 ? call_.Hk * blocks_of(segment) : 0;
    return {.tasks = before.tasks + (pieces > 1 ? cut * pieces : call_.Hk * tasks_a_head(segment)),
            .merges = before.merges + cut,
            .partial_floats = before.partial_floats + cut * floats_of_block(segment)};
  }

  struct Place {
    const Segment& segment;
    const TasksBefore& before;
  };

  // The segment in which the n-th of what is counted lies.
  [[nodiscard]] Place holding(std::int64_t n, std::int64_t TasksBefore::* counted) const {
    const auto next = std::upper_bound(before_.begin(), before_.end(), n,
                                       [&](std::int64_t x, const TasksBefore& before) { return x < before.*counted; });
    const auto place = static_cast<std::size_t>(next - before_.begin()) - 1;
    return {call_.segments[place], before_[place]};
  }

  // The task of all keys of the n-th block; the states of its pieces start at task.partial.
  [[nodiscard]] Task block_task(const Segment& segment, std::int64_t n, std::int64_t partial) const {
    return {.segment = &segment,
            .key_head = n / blocks_of(segment),
            .first_block = n % blocks_of(segment),
            .blocks = 1,
            .columns = {0, columns_of(segment)},
            .partial = partials_ + partial + n * floats_of_block(segment)};
  }

  const Forward& call_;
  std::int64_t blocks_ = 0;  // of the whole call
  std::int64_t blocks_a_task_;
  std::int64_t piece_columns_;
  TasksBefore all_;
  std::span<TasksBefore> before_;  // each segment
  float* partials_ = nullptr;
};

}  // namespace qkv::kernels::cpu
