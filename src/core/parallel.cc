#include "core/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace qkv::core {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// How long a thread polls before it sleeps. A token that is written has some hundred calls with microseconds between
// them, and waking a thread may take as long as its part of the work; whoever waits longer leaves the processor to
// others.
constexpr microseconds kShortLook(10);
constexpr microseconds kLongLook(150);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class Condition>
void look_for(microseconds longest, const Condition& condition) {
  constexpr int kLooksATime = 50;  // between two looks at the clock
  const auto end = Clock::now() + longest;
  do {
    for (int look = 0; look < kLooksATime; ++look) {
      if (condition()) return;
      pause();
    }
  } while (Clock::now() < end);
}

// One call of parallel_for, on its caller's stack. The pool's lock guards all members but `next` and `helpers_inside`.
struct Job {
  ParallelBody body;
  std::int64_t tasks;
  int most_helpers;
  std::atomic<std::int64_t> next = 0;
  std::atomic<int> helpers_inside = 0;
  int helpers_joined = 0;
  std::exception_ptr failure = nullptr;
  std::condition_variable left = {};
  Job* following = nullptr;  // next in the list of jobs that can take another helper

  // Runs tasks until none is left. Returns the exception that one of them threw.
  std::exception_ptr work(int worker) {
    try {
      for (;;) {
        if (worker == 0) look();
        const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return nullptr;
        body.run(body.body, worker, task);
      }
    } catch (...) {
      next.store(tasks, std::memory_order_relaxed);
      return std::current_exception();
    }
  }
};

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
      open_jobs_.fetch_add(1);  // so that no worker goes on looking
    }
    wake_.notify_all();
  }

  void run(Job& job) {
    offer(job);
    const std::exception_ptr failure = job.work(0);
    {
      std::unique_lock lock(mutex_);
      if (job.helpers_joined < job.most_helpers) close(job);
      if (job.helpers_inside.load() > 0) {
        lock.unlock();
        look_for(kLongLook, [&] { return job.helpers_inside.load() == 0; });
        lock.lock();
        job.left.wait(lock, [&] { return job.helpers_inside.load() == 0; });
      }
      if (failure != nullptr && job.failure == nullptr) job.failure = failure;
    }
    if (job.failure != nullptr) std::rethrow_exception(job.failure);
  }

 private:
  void offer(Job& job) {
    int sleeping = 0;
    {
      const std::scoped_lock lock(mutex_);
      grow_to(static_cast<std::size_t>(job.most_helpers));
      Job** end = &first_;
      while (*end != nullptr) end = &(*end)->following;
      *end = &job;
      open_jobs_.fetch_add(1);
      sleeping = std::min(job.most_helpers, sleepers_);
    }
    for (int n = 0; n < sleeping; ++n) wake_.notify_one();
  }

  // If the system refuses a thread, the others do the work.
  void grow_to(std::size_t workers) {
    try {
      while (workers_.size() < workers) {
        workers_.emplace_back([this] { help(); });
      }
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch)
    }
  }

  void close(const Job& job) {
    Job** place = &first_;
    while (*place != &job) place = &(*place)->following;
    *place = job.following;
    open_jobs_.fetch_sub(1);
  }

  void help() {
    bool comes_soon = false;  // the next job, if the last one did
    for (;;) {
      const auto idle_since = Clock::now();
      look_for(comes_soon ? kLongLook : kShortLook, [&] { return open_jobs_.load(std::memory_order_relaxed) > 0; });
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, [&] { return first_ != nullptr || ends_; });
      --sleepers_;
      comes_soon = Clock::now() - idle_since < kLongLook;
      if (ends_) return;
      Job& job = *first_;
      const int worker = ++job.helpers_joined;
      job.helpers_inside.fetch_add(1);
      if (job.helpers_joined == job.most_helpers) close(job);
      lock.unlock();
      const std::exception_ptr failure = job.work(worker);
      lock.lock();
      if (failure != nullptr && job.failure == nullptr) job.failure = failure;
      // Notify under the lock: as soon as it is free, the caller may return and destroy the job.
      if (job.helpers_inside.fetch_sub(1) == 1) job.left.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Job* first_ = nullptr;
  std::atomic<int> open_jobs_ = 0;
  int sleepers_ = 0;
  bool ends_ = false;
  std::vector<std::jthread> workers_;  // joined before the other members are destroyed
};

// A forked process has none of the pool's threads, and one of them may have held its lock. The child leaves the pool
// alone and runs every task on the calling thread.
class PoolOfProcess {
 public:
  PoolOfProcess() : pool_(new Pool), process_(getpid()) {}
  PoolOfProcess(const PoolOfProcess&) = delete;
  PoolOfProcess& operator=(const PoolOfProcess&) = delete;
  ~PoolOfProcess() {
    if (is_here()) delete pool_;
  }

  [[nodiscard]] bool is_here() const { return getpid() == process_; }
  [[nodiscard]] Pool& pool() const { return *pool_; }

 private:
  Pool* pool_;
  pid_t process_;
};

const PoolOfProcess& pool_of_process() {
  static const PoolOfProcess kPool;
  return kPool;
}

}  // namespace

void run_on_pool(int threads, std::int64_t tasks, ParallelBody body) {
  const auto most_helpers = static_cast<int>(std::min<std::int64_t>(threads, tasks)) - 1;
  Job job = {.body = body, .tasks = tasks, .most_helpers = most_helpers};
  const PoolOfProcess& home = pool_of_process();
  if (home.is_here()) return home.pool().run(job);
  const std::exception_ptr failure = job.work(0);
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace qkv::core
