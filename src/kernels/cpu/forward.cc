#include "kernels/cpu/forward.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {
namespace {

constexpr double kLog2e = std::numbers::log2e;

// Clamps a scale or softcap to the range in which f32 can multiply by it, and divide 8 or a scale by it.
float within(double least, double x, double most) { return static_cast<float>(std::clamp(x, least, most)); }

std::int64_t columns_of(const Segment& segment) { return (segment.shape.Tk + kTile - 1) / kTile; }

// Counts of tasks and blocks before a segment.
struct Before {
  std::int64_t tasks = 0;
  std::int64_t merges = 0;
  std::int64_t partial_floats = 0;
};

// Tasks are numbered by segment, then key head, then block, last block first: under a causal mask it has most work. If
// keys are split, by block and piece of its keys.
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
    const auto bytes = static_cast<std::int64_t>(call_.segments.size() * sizeof(Before));
    return round_up(bytes, kTile) / static_cast<std::int64_t>(sizeof(float));
  }
  [[nodiscard]] std::int64_t partial_floats() const { return all_.partial_floats; }

  void keep_in(float* scratch) {
    before_ = {reinterpret_cast<Before*>(scratch), call_.segments.size()};
    Before next;
    for (std::size_t n = 0; n < before_.size(); ++n) {
      std::construct_at(&before_[n], next);
      next = after(next, call_.segments[n]);
    }
    partials_ = scratch + list_floats();
  }

  [[nodiscard]] Task operator[](std::int64_t n) const {
    const auto [segment, before] = holding(n, &Before::tasks);
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
    const auto [segment, before] = holding(n, &Before::merges);
    const Task task = block_task(segment, n - before.merges, before.partial_floats);
    return {.task = task,
            .states = {.first = task.partial - task.first_block * floats_of_block(segment),
                       .pieces = pieces_of(segment),
                       .piece_stride = floats_of_state(segment),
                       .block_stride = floats_of_block(segment),
                       .Tq = segment.shape.Tq}};
  }

 private:
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

  [[nodiscard]] Before after(const Before& before, const Segment& segment) const {
    const std::int64_t pieces = pieces_of(segment);
    const std::int64_t cut = pieces > 1 ? call_.Hk * blocks_of(segment) : 0;
    return {.tasks = before.tasks + (pieces > 1 ? cut * pieces : call_.Hk * tasks_a_head(segment)),
            .merges = before.merges + cut,
            .partial_floats = before.partial_floats + cut * floats_of_block(segment)};
  }

  struct Place {
    const Segment& segment;
    const Before& before;
  };

  // The segment in which the n-th of what is counted lies.
  [[nodiscard]] Place holding(std::int64_t n, std::int64_t Before::* counted) const {
    const auto next = std::upper_bound(before_.begin(), before_.end(), n,
                                       [&](std::int64_t x, const Before& before) { return x < before.*counted; });
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
  Before all_;
  std::span<Before> before_;  // each segment
  float* partials_ = nullptr;
};

// Multiply-adds of the call if every pair were visible, up to `most`.
std::int64_t work_of(const Forward& call, std::int64_t most) {
  const double of_a_pair = static_cast<double>(call.Hq) * static_cast<double>(call.D + call.Dv);
  double work = 0;
  for (const Segment& segment : call.segments) {
    work += static_cast<double>(segment.shape.Tq) * static_cast<double>(segment.shape.Tk) * of_a_pair;
    if (work >= static_cast<double>(most)) return most;
  }
  return static_cast<std::int64_t>(work);
}

// At most as many as there are tasks, and as the work is worth: to wake a thread takes longer than a short call.
int workers_of(const Forward& call, const TaskList& tasks, int threads) {
  constexpr std::int64_t kWorthAThread = std::int64_t{1} << 18;  // multiply-adds of some ten microseconds
  const std::int64_t wanted = std::clamp<std::int64_t>(tasks.count(), 1, threads);
  if (wanted == 1) return 1;
  return static_cast<int>(std::clamp<std::int64_t>(work_of(call, wanted * kWorthAThread) / kWorthAThread, 1, wanted));
}

}  // namespace

Settings settings_of(const Forward& call) {
  const bool shaped = call.softcap || call.bias != nullptr;
  Settings settings;
  settings.call = &call;
  settings.query_sign = call.scale > 0 ? 1 : call.scale < 0 ? -1 : 0;
  const double scale = call.scale == 0 ? 1 : std::abs(call.scale);
  settings.scale = within(0x1p-126, scale, 0x1p127);
  settings.softcap = call.softcap ? within(0x1p-60, *call.softcap, 0x1p120) : 0;
  settings.to_nats = shaped ? 1 : scale;
  settings.to_log2 = within(0x1p-124, settings.to_nats * kLog2e, 0x1p127);
  if (call.dropout) {
    settings.dropout = {.seed_low = static_cast<std::uint32_t>(call.dropout->seed),
                        .seed_high = static_cast<std::uint32_t>(call.dropout->seed >> 32U),
                        .least = static_cast<std::uint32_t>(call.dropout->p * 0x1p32),
                        .kept_scale = static_cast<float>(1 / (1 - call.dropout->p))};
  }
  return settings;
}

std::size_t scratch_bytes(const Target& target, const Forward& call, int threads) {
  const TaskList tasks(call, target.blocks_a_task(call));
  return core::checked_sum(
      "attention", {core::checked_bytes("attention", {workers_of(call, tasks, threads)}, worker_stride(target, call)),
                    core::checked_bytes("attention", {tasks.list_floats() + tasks.partial_floats()}, sizeof(float))});
}

void forward(const Target& target, const Forward& call, int threads, std::span<std::byte> scratch) {
  const Settings settings = settings_of(call);
  TaskList tasks(call, target.blocks_a_task(call));
  const int workers = workers_of(call, tasks, threads);
  const std::size_t bytes = worker_stride(target, call);
  const auto scratch_of = [&](int worker) { return scratch.data() + bytes * static_cast<std::size_t>(worker); };
  tasks.keep_in(reinterpret_cast<float*>(scratch_of(workers)));
  core::parallel_for(workers, tasks.count(),
                     [&](int worker, std::int64_t n) { target.run(settings, tasks[n], scratch_of(worker)); });
  core::parallel_for(workers, tasks.merges(), [&](int worker, std::int64_t n) {
    const auto [task, states] = tasks.merge(n);
    target.merge(settings, task, {&states, 1}, scratch_of(worker));
  });
}

}  // namespace qkv::kernels::cpu
