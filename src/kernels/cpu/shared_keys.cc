#include "kernels/cpu/shared_keys.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {
namespace {

// The states of a run lie [key head][block][piece].
struct RunLayout {
  std::int64_t blocks = 0;
  std::int64_t pieces = 0;
  std::int64_t state_floats = 0;
  std::int64_t first = 0;  // float of its states

  [[nodiscard]] std::int64_t block_floats() const { return pieces * state_floats; }
  [[nodiscard]] std::int64_t head_floats() const { return blocks * block_floats(); }
};

class RunTasks {
 public:
  RunTasks(const Target& target, const SharedForward& call)
      : call_(call), most_blocks_(target.blocks_a_task(call.forward)) {
    const Forward& forward = call.forward;
    std::int64_t columns = 0;
    for (const KeyRange& run : call.columns) columns += forward.Hk * (run.end - run.begin);
    const std::int64_t piece_columns = std::max(kFewestColumns, columns / kMostPieces);
    for (std::size_t n = 0; n < call.columns.size(); ++n) {
      const std::int64_t Tq = forward.segments[n].shape.Tq;
      RunLayout layout = {.blocks = LaneBlocks(Tq, forward.group()).count(),
                          .pieces = (call.columns[n].end - call.columns[n].begin + piece_columns - 1) / piece_columns,
                          .state_floats = partial_floats(std::min(kTile, Tq * forward.group()), forward.Dv),
                          .first = floats_};
      floats_ += forward.Hk * layout.head_floats();
      tasks_ += forward.Hk * layout.pieces * task_blocks(layout);
      layouts_.push_back(layout);
    }
  }

  [[nodiscard]] std::int64_t count() const { return tasks_; }
  [[nodiscard]] std::int64_t floats() const { return floats_; }

  [[nodiscard]] std::vector<Task> list(float* states) const {
    std::vector<Task> tasks;
    tasks.reserve(static_cast<std::size_t>(tasks_));
    for (std::size_t n = 0; n < layouts_.size(); ++n) add(n, states, tasks);
    return tasks;
  }

  [[nodiscard]] KeptStates states_of(const RunMember& member, std::int64_t key_head, const float* states) const {
    const RunLayout& layout = layouts_[member.run];
    return {.first = states + layout.first + key_head * layout.head_floats(),
            .pieces = layout.pieces,
            .piece_stride = layout.state_floats,
            .block_stride = layout.block_floats(),
            .Tq = call_.forward.segments[member.run].shape.Tq,
            .first_query = member.first_query};
  }

 private:
  [[nodiscard]] std::int64_t task_blocks(const RunLayout& layout) const {
    return (layout.blocks + most_blocks_ - 1) / most_blocks_;
  }

  void add(std::size_t run, float* states, std::vector<Task>& tasks) const {
    const RunLayout& layout = layouts_[run];
    const KeyRange& all = call_.columns[run];
    const std::int64_t columns = all.end - all.begin;
    for (std::int64_t n = 0; n < call_.forward.Hk * layout.pieces; ++n) {
      const std::int64_t key_head = n / layout.pieces;
      const std::int64_t piece = n % layout.pieces;
      for (std::int64_t block = 0; block < layout.blocks; block += most_blocks_) {
        tasks.push_back({.segment = &call_.forward.segments[run],
                         .key_head = key_head,
                         .first_block = block,
                         .blocks = std::min(most_blocks_, layout.blocks - block),
                         .columns = {all.begin + piece * columns / layout.pieces,
                                     all.begin + (piece + 1) * columns / layout.pieces},
                         .partial = states + layout.first + key_head * layout.head_floats() +
                                    block * layout.block_floats() + piece * layout.state_floats,
                         .partial_stride = layout.block_floats()});
      }
    }
  }

  const SharedForward& call_;
  std::int64_t most_blocks_;
  std::vector<RunLayout> layouts_;
  std::int64_t floats_ = 0;
  std::int64_t tasks_ = 0;
};

int workers_of(const RunTasks& tasks, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(tasks.count(), 1, threads));
}

void merge(const Target& target, const Settings& settings, const SharingSequence& sequence, std::int64_t key_head,
           const RunTasks& tasks, const float* states, std::byte* scratch) {
  std::vector<KeptStates> kept;
  kept.reserve(sequence.runs.size());
  for (const RunMember& member : sequence.runs) kept.push_back(tasks.states_of(member, key_head, states));
  const std::int64_t blocks = LaneBlocks(sequence.segment.shape.Tq, settings.call->group()).count();
  for (std::int64_t block = 0; block < blocks; ++block) {
    target.merge(settings,
                 {.segment = &sequence.segment, .key_head = key_head, .first_block = block, .blocks = 1, .columns = {}},
                 kept, scratch);
  }
}

}  // namespace

std::size_t shared_scratch_bytes(const Target& target, const SharedForward& call, int threads) {
  const RunTasks tasks(target, call);
  return core::checked_sum(
      "decode", {core::checked_bytes("decode", {workers_of(tasks, threads)}, worker_stride(target, call.forward)),
                 core::checked_bytes("decode", {tasks.floats()}, sizeof(float))});
}

void forward_shared(const Target& target, const SharedForward& call, int threads, std::span<std::byte> scratch) {
  const Settings settings = settings_of(call.forward);
  const RunTasks tasks(target, call);
  const int workers = workers_of(tasks, threads);
  const std::size_t bytes = worker_stride(target, call.forward);
  const auto scratch_of = [&](int worker) { return scratch.data() + bytes * static_cast<std::size_t>(worker); };
  auto* states = reinterpret_cast<float*>(scratch_of(workers));
  const std::vector<Task> list = tasks.list(states);
  core::parallel_for(workers, tasks.count(), [&](int worker, std::int64_t n) {
    target.run(settings, list[static_cast<std::size_t>(n)], scratch_of(worker));
  });
  const std::int64_t Hk = call.forward.Hk;
  const auto merges = static_cast<std::int64_t>(call.sequences.size()) * Hk;
  core::parallel_for(workers, merges, [&](int worker, std::int64_t n) {
    merge(target, settings, call.sequences[static_cast<std::size_t>(n / Hk)], n % Hk, tasks, states,
          scratch_of(worker));
  });
}

}  // namespace qkv::kernels::cpu
