#include "kernels/cpu/forward.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {
namespace {

constexpr double kLog2e = 1.4426950408889634;

// A scale or softcap beyond what f32 can multiply by, and divide 8 or a scale by, gives the weights of the nearest one
// that it can.
float within(double least, double x, double most) { return static_cast<float>(std::clamp(x, least, most)); }

std::int64_t columns_of(const Segment& segment) { return (segment.shape.Tk + kTile - 1) / kTile; }

// Tasks are numbered through segments, then key heads, then blocks from the last, which under a causal mask have most
// to do, or, where a key head has one block, pieces of its keys.
class TaskList {
 public:
  TaskList(const Forward& call, std::int64_t blocks_a_task) : call_(call), blocks_a_task_(blocks_a_task) {
    std::int64_t columns = 0;
    for (const Segment& segment : call_.segments) columns += columns_of(segment) * call_.Hk;
    piece_columns_ = std::max(kFewestColumns, columns / kMostPieces);
  }

  [[nodiscard]] std::int64_t count() const {
    std::int64_t tasks = 0;
    for (const Segment& segment : call_.segments) tasks += call_.Hk * tasks_a_head(segment);
    return tasks;
  }

  [[nodiscard]] Task operator[](std::int64_t n) const {
    float* partial = partials_;
    for (const Segment& segment : call_.segments) {
      const std::int64_t a_head = tasks_a_head(segment);
      if (n < call_.Hk * a_head) {
        if (pieces_of(segment) > 1) {
          Task task = head_task(segment, n / a_head, partial);
          task.columns.begin = n % a_head * piece_columns_;
          task.columns.end = std::min(task.columns.begin + piece_columns_, task.columns.end);
          task.partial += n % a_head * floats_of_piece(segment);
          return task;
        }
        const std::int64_t blocks = LaneBlocks(segment.shape.Tq, call_.group()).count();
        const std::int64_t first = (a_head - 1 - n % a_head) * blocks_a_task_;
        return {.segment = &segment,
                .key_head = n / a_head,
                .first_block = first,
                .blocks = std::min(blocks_a_task_, blocks - first),
                .columns = {0, columns_of(segment)}};
      }
      n -= call_.Hk * a_head;
      partial += call_.Hk * floats_of_head(segment);
    }
    return {};
  }

  /// Key heads whose keys are cut.
  [[nodiscard]] std::int64_t merges() const {
    std::int64_t heads = 0;
    for (const Segment& segment : call_.segments) heads += pieces_of(segment) > 1 ? call_.Hk : 0;
    return heads;
  }

  struct Merge {
    Task task;
    std::int64_t pieces;
  };

  [[nodiscard]] Merge merge(std::int64_t n) const {
    float* partial = partials_;
    for (const Segment& segment : call_.segments) {
      if (pieces_of(segment) == 1) continue;
      if (n < call_.Hk) return {.task = head_task(segment, n, partial), .pieces = pieces_of(segment)};
      n -= call_.Hk;
      partial += call_.Hk * floats_of_head(segment);
    }
    return {};
  }

  [[nodiscard]] std::int64_t partial_floats() const {
    std::int64_t floats = 0;
    for (const Segment& segment : call_.segments) floats += call_.Hk * floats_of_head(segment);
    return floats;
  }

  void keep_partials_in(float* partials) { partials_ = partials; }

 private:
  // A piece of 2,048 keys is long enough to hide its start and its share of the merge.
  static constexpr std::int64_t kFewestColumns = 32;
  // A call's pieces, beyond one for each key head of each segment.
  static constexpr std::int64_t kMostPieces = 256;

  [[nodiscard]] std::int64_t tasks_a_head(const Segment& segment) const {
    if (const std::int64_t pieces = pieces_of(segment); pieces > 1) return pieces;
    return (LaneBlocks(segment.shape.Tq, call_.group()).count() + blocks_a_task_ - 1) / blocks_a_task_;
  }

  [[nodiscard]] std::int64_t pieces_of(const Segment& segment) const {
    if (LaneBlocks(segment.shape.Tq, call_.group()).count() != 1) return 1;
    return std::max<std::int64_t>(1, (columns_of(segment) + piece_columns_ - 1) / piece_columns_);
  }

  [[nodiscard]] std::int64_t floats_of_piece(const Segment& segment) const {
    return cpu::partial_floats(segment.shape.Tq * call_.group(), call_.Dv);
  }

  [[nodiscard]] std::int64_t floats_of_head(const Segment& segment) const {
    const std::int64_t pieces = pieces_of(segment);
    return pieces == 1 ? 0 : pieces * floats_of_piece(segment);
  }

  // All keys of a key head, whose states start at `partial` plus those of the heads before.
  [[nodiscard]] Task head_task(const Segment& segment, std::int64_t key_head, float* partial) const {
    return {.segment = &segment,
            .key_head = key_head,
            .first_block = 0,
            .blocks = 1,
            .columns = {0, columns_of(segment)},
            .partial = partial + key_head * floats_of_head(segment)};
  }

  const Forward& call_;
  std::int64_t blocks_a_task_;
  std::int64_t piece_columns_;
  float* partials_ = nullptr;
};

// No more than there are tasks.
int workers_of(const TaskList& tasks, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(tasks.count(), 1, threads));
}

std::size_t padded_worker_bytes(const Target& target, const Forward& call) {
  return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(target.worker_bytes(call)), kTile));
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

const Target* find_target(std::string_view name) {
#if defined(__x86_64__)
  const Target* const targets[] = {&kScalar, &kAvx2, &kAvx512, &kAmx};
#elif defined(__aarch64__)
  const Target* const targets[] = {&kScalar, &kNeon};
#else
  const Target* const targets[] = {&kScalar};
#endif
  for (const Target* target : targets) {
    if (target->name == name) return target;
  }
  return nullptr;
}

std::size_t scratch_bytes(const Target& target, const Forward& call, int threads) {
  const TaskList tasks(call, target.blocks_a_task(call));
  return padded_worker_bytes(target, call) * static_cast<std::size_t>(workers_of(tasks, threads)) +
         static_cast<std::size_t>(tasks.partial_floats()) * sizeof(float);
}

void forward(const Target& target, const Forward& call, int threads, std::span<std::byte> scratch) {
  const Settings settings = settings_of(call);
  TaskList tasks(call, target.blocks_a_task(call));
  const int workers = workers_of(tasks, threads);
  const std::size_t bytes = padded_worker_bytes(target, call);
  const auto scratch_of = [&](int worker) { return scratch.data() + bytes * static_cast<std::size_t>(worker); };
  tasks.keep_partials_in(reinterpret_cast<float*>(scratch_of(workers)));
  core::parallel_for(workers, tasks.count(),
                     [&](int worker, std::int64_t n) { target.run(settings, tasks[n], scratch_of(worker)); });
  core::parallel_for(workers, tasks.merges(), [&](int worker, std::int64_t n) {
    const auto [task, pieces] = tasks.merge(n);
    target.merge(settings, task, pieces, scratch_of(worker));
  });
}

}  // namespace qkv::kernels::cpu
