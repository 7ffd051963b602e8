// Results that several clients ask for: each is made once, outside of any lock, and the last ones are kept.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "api/studio/question_watch.h"
#include "core/watched.h"

namespace qkv::api_detail {

/// How much is kept: the newest in any case.
struct KeptBounds {
  std::size_t count;
  std::size_t bytes;
};

/// Several threads may ask at once. Those that ask for the same share one making, which stops only where none of them
/// waits any more; whoever goes leaves the others their work.
template <class Key, class Value>
class SharedWork {
 public:
  using Made = std::shared_ptr<Value>;

  SharedWork(KeptBounds bounds, std::function<std::size_t(const Value&)> bytes_of)
      : bounds_(bounds), bytes_of_(std::move(bytes_of)) {}

  /// What `make` returns for this key, made now if it is not kept. Throws what `make` throws, and Cancelled where the
  /// question of this thread is waited for no more.
  [[nodiscard]] Made get(const Key& key, const std::function<Made()>& make) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found = std::ranges::find(jobs_, key, &Entry::first);
      if (found == jobs_.end()) return led(key, make, lock);
      const std::shared_ptr<Job> job = found->second;
      if (job->value != nullptr) {
        std::rotate(jobs_.begin(), found, found + 1);
        return job->value;
      }
      wait_for(*job, lock);
      if (job->failure != nullptr && !job->is_cancelled) std::rethrow_exception(job->failure);
    }
  }

 private:
  struct Job {
    Made value;
    std::exception_ptr failure;
    bool is_cancelled = false;
    int waiting = 0;

    [[nodiscard]] bool is_done() const { return value != nullptr || failure != nullptr; }
  };
  using Entry = std::pair<Key, std::shared_ptr<Job>>;

  void wait_for(Job& job, std::unique_lock<std::mutex>& lock) {
    constexpr std::chrono::milliseconds kLook{20};
    ++job.waiting;
    while (!job.is_done()) {
      changed_.wait_for(lock, kLook);
      if (job.is_done()) break;
      lock.unlock();
      Proceed proceed = Proceed::stop;
      std::exception_ptr late;
      try {
        proceed = QuestionWatch::proceed();
      } catch (...) {
        late = std::current_exception();
      }
      lock.lock();
      if (proceed == Proceed::go_on) continue;
      --job.waiting;
      if (late != nullptr) std::rethrow_exception(late);
      throw Cancelled("nobody waits for the answer");
    }
    --job.waiting;
  }

  // Makes it on this thread, for all who wait.
  Made led(const Key& key, const std::function<Made()>& make, std::unique_lock<std::mutex>& lock) {
    const auto job = std::make_shared<Job>();
    jobs_.emplace_front(key, job);
    lock.unlock();
    const CallWatch for_all = [&] {
      if (QuestionWatch::proceed() == Proceed::go_on) return Proceed::go_on;
      const std::scoped_lock inner(mutex_);
      return job->waiting > 0 ? Proceed::go_on : Proceed::stop;
    };
    try {
      const core::Watched watched(for_all);
      Made made = make();
      lock.lock();
      job->value = std::move(made);
    } catch (const Cancelled&) {
      lock.lock();
      job->is_cancelled = true;
      job->failure = std::current_exception();
    } catch (...) {
      lock.lock();
      job->failure = std::current_exception();
    }
    changed_.notify_all();
    if (job->failure != nullptr) {
      std::erase_if(jobs_, [&](const Entry& one) { return one.second == job; });
      std::rethrow_exception(job->failure);
    }
    drop_oldest();
    return job->value;
  }

  void drop_oldest() {
    std::size_t count = 0;
    std::size_t bytes = 0;
    std::erase_if(jobs_, [&](const Entry& one) {
      if (one.second->value == nullptr) return false;  // at work
      ++count;
      bytes += bytes_of_(*one.second->value);
      return count > 1 && (count > bounds_.count || bytes > bounds_.bytes);
    });
  }

  KeptBounds bounds_;
  std::function<std::size_t(const Value&)> bytes_of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> jobs_;  // the newest first
};

}  // namespace qkv::api_detail
