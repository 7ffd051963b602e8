#include "kernels/cpu/backward.h"

#include <thread>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/cpu/backward_run.h"

namespace qkv::kernels::cpu {
namespace {

// A task waits for earlier tasks only. These have been started by other threads, so there is no deadlock.
template <class Condition>
void wait_until(const Condition& met) {
  while (!met()) std::this_thread::yield();
}

std::size_t worker_stride(const Target& target, const Backward& call) {
  return core::aligned_bytes(target.backward.worker_bytes(call.forward));
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

void BackwardTasks::run(const BackwardTask& task, const Settings& settings, std::int64_t head,
                        std::byte* scratch) const {
  if (head >= slots_) wait_until([&] { return left_[head - slots_].load(std::memory_order_acquire) == kReleased; });
  target_.backward.run(settings, task, scratch);
  TaskCounter& left = left_[head];
  if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (task.segment->d_q.base != nullptr) target_.backward.finish(settings, task, scratch);
  left.store(kReleased, std::memory_order_release);
}

BackwardRun::BackwardRun(const Target& target, const Backward& call, int threads)
    : target_(target),
      call_(call),
      threads_(threads),
      sums_(call_),
      tasks_(target, call_, sums_, threads),
      worker_bytes_(worker_stride(target, call_)) {}

std::size_t BackwardRun::scratch_bytes() const {
  return core::checked_sum("attention_backward", {core::checked_bytes("attention_backward", {threads_}, worker_bytes_),
                                                  sums_.bytes(), tasks_.shared_bytes()});
}

void BackwardRun::run(std::span<std::byte> scratch) {
  const Settings settings = settings_of(call_.forward);
  std::byte* shared = scratch.data() + worker_bytes_ * static_cast<std::size_t>(threads_);
  sums_.keep_in(shared);
  tasks_.keep_shared_in(shared + sums_.bytes());
  sums_.compute(target_, settings, threads_, scratch.data(), worker_bytes_);
  core::parallel_for(threads_, tasks_.count(), [&](int worker, std::int64_t n) {
    tasks_.run(settings, n, scratch.data() + worker_bytes_ * static_cast<std::size_t>(worker));
  });
}

}  // namespace qkv::kernels::cpu
