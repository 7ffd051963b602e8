#include "kernels/cpu/backward.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "core/parallel.h"
#include "kernels/cpu/backward_task.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {
namespace {

using Counter = std::atomic<std::int64_t>;

// What is waited for is under way on another thread: a task waits for those before it only, and they have begun.
template <class Condition>
void wait_until(const Condition& met) {
  while (!met()) std::this_thread::yield();
}

// Tasks are numbered through segments, then key heads, then groups of columns of keys. Those of one key head add to its
// d_q, whose floats lie in one of as many slots as there are workers.
class BackwardTasks {
 public:
  BackwardTasks(const Target& target, const Backward& call, int threads)
      : target_(target),
        call_(call),
        columns_(target.backward.columns_a_task(call.forward)),
        slots_(std::min<std::int64_t>(threads, heads())) {}

  [[nodiscard]] std::int64_t heads() const {
    return static_cast<std::int64_t>(call_.segments.size()) * call_.forward.Hk;
  }

  [[nodiscard]] std::int64_t count() const {
    std::int64_t tasks = 0;
    for (const BackwardSegment& segment : call_.segments) tasks += call_.forward.Hk * tasks_a_head(segment);
    return tasks;
  }

  [[nodiscard]] std::int64_t slot_floats() const {
    std::int64_t most = 0;
    for (const BackwardSegment& segment : call_.segments) {
      const LaneBlocks blocks(segment.forward.shape.Tq, call_.forward.group());
      most = std::max(most, blocks.count() * target_.backward.d_q_floats(call_.forward));
    }
    return round_up(most, kTile);
  }

  /// Progress of every task, then tasks left of every key head.
  [[nodiscard]] std::int64_t counters() const { return count() + heads(); }

  [[nodiscard]] std::size_t shared_bytes() const {
    return static_cast<std::size_t>(round_up(counters() * static_cast<std::int64_t>(sizeof(Counter)), kTile)) +
           static_cast<std::size_t>(slots_ * slot_floats()) * sizeof(float);
  }

  void keep_shared_in(std::byte* place) {
    progress_ = reinterpret_cast<Counter*>(place);
    left_ = progress_ + count();
    for (std::int64_t n = 0; n < counters(); ++n) std::construct_at(progress_ + n, 0);
    std::int64_t head = 0;
    for (const BackwardSegment& segment : call_.segments) {
      for (std::int64_t h = 0; h < call_.forward.Hk; ++h) left_[head++] = tasks_a_head(segment);
    }
    d_q_ = reinterpret_cast<float*>(place + round_up(counters() * static_cast<std::int64_t>(sizeof(Counter)), kTile));
  }

  void run(const Settings& settings, std::int64_t n, std::byte* scratch) const {
    std::int64_t first = 0;
    std::int64_t head = 0;
    for (const BackwardSegment& segment : call_.segments) {
      const std::int64_t a_head = tasks_a_head(segment);
      const std::int64_t all = call_.forward.Hk * a_head;
      if (n - first < all) {
        const std::int64_t key_head = (n - first) / a_head;
        const std::int64_t turn = (n - first) % a_head;
        head += key_head;
        run({.segment = &segment,
             .key_head = key_head,
             .first_column = turn * columns_,
             .columns = std::min(columns_, columns_of(segment) - turn * columns_),
             .d_q = d_q_ + head % slots_ * slot_floats(),
             .progress = progress_ + first + key_head * a_head,
             .turn = turn},
            settings, head, scratch);
        return;
      }
      first += all;
      head += call_.forward.Hk;
    }
  }

 private:
  static constexpr std::int64_t kReleased = -1;

  // One even where there are no keys: d_q is to be written.
  [[nodiscard]] std::int64_t tasks_a_head(const BackwardSegment& segment) const {
    return std::max<std::int64_t>(1, (columns_of(segment) + columns_ - 1) / columns_);
  }

  static std::int64_t columns_of(const BackwardSegment& segment) {
    return (segment.forward.shape.Tk + kTile - 1) / kTile;
  }

  void run(const BackwardTask& task, const Settings& settings, std::int64_t head, std::byte* scratch) const {
    if (head >= slots_) wait_until([&] { return left_[head - slots_].load(std::memory_order_acquire) == kReleased; });
    target_.backward.run(settings, task, scratch);
    Counter& left = left_[head];
    if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    if (task.segment->d_q.base != nullptr) target_.backward.finish(settings, task, scratch);
    left.store(kReleased, std::memory_order_release);
  }

  const Target& target_;
  const Backward& call_;
  std::int64_t columns_;
  std::int64_t slots_;
  Counter* progress_ = nullptr;
  Counter* left_ = nullptr;
  float* d_q_ = nullptr;
};

std::size_t padded_worker_bytes(const Target& target, const Backward& call) {
  return static_cast<std::size_t>(
      round_up(static_cast<std::int64_t>(target.backward.worker_bytes(call.forward)), kTile));
}

}  // namespace

void wait_for_turn(const BackwardTask& task, std::int64_t block) {
  for (std::int64_t n = task.turn - 1; n >= 0; --n) {
    wait_until([&] { return task.progress[n].load(std::memory_order_acquire) > block; });
  }
}

void end_turn(const BackwardTask& task, std::int64_t block) {
  task.progress[task.turn].store(block + 1, std::memory_order_release);
}

std::size_t scratch_bytes(const Target& target, const Backward& call, int threads) {
  return padded_worker_bytes(target, call) * static_cast<std::size_t>(threads) +
         BackwardTasks(target, call, threads).shared_bytes();
}

void backward(const Target& target, const Backward& call, int threads, std::span<std::byte> scratch) {
  const Settings settings = settings_of(call.forward);
  const std::size_t bytes = padded_worker_bytes(target, call);
  BackwardTasks tasks(target, call, threads);
  tasks.keep_shared_in(scratch.data() + bytes * static_cast<std::size_t>(threads));
  core::parallel_for(threads, tasks.count(), [&](int worker, std::int64_t n) {
    tasks.run(settings, n, scratch.data() + bytes * static_cast<std::size_t>(worker));
  });
}

}  // namespace qkv::kernels::cpu
