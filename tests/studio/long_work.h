// Work that ends when it is told to, and says where it is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "qkv/api/asking.h"
#include "qkv/probe.h"

namespace qkv::studio::tests {

class LongWork {
 public:
  /// Every question is worked on until it is stopped or released.
  [[nodiscard]] Ask ask() {
    return [this](std::string_view /*name*/, std::string_view /*request*/, const StudioWatch& watch) {
      return work(watch);
    };
  }

  void release() {
    const std::scoped_lock lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

  void wait_until_begun(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  void wait_until_none_works() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == begun_; });
  }
  [[nodiscard]] int begun() {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }
  [[nodiscard]] int stopped() {
    const std::scoped_lock lock(mutex_);
    return stopped_;
  }

 private:
  StudioReply work(const StudioWatch& watch) {
    constexpr std::chrono::milliseconds kStep{1};
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    Proceed proceed = Proceed::go_on;
    while (!is_released_ && proceed == Proceed::go_on) {
      lock.unlock();
      proceed = watch("walk", {.done = 1, .total = 100});
      lock.lock();
      changed_.wait_for(lock, kStep, [this] { return is_released_; });
    }
    ++ended_;
    if (proceed == Proceed::stop) ++stopped_;
    changed_.notify_all();
    if (proceed == Proceed::stop) throw Cancelled("stopped");
    return {.json = "{}", .blocks = {}};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_released_ = false;
  int begun_ = 0;
  int ended_ = 0;
  int stopped_ = 0;
};

}  // namespace qkv::studio::tests
