#include "workers.h"

#include <utility>

namespace qkv::studio {

Workers::Workers(std::size_t threads, std::size_t most_waiting, std::function<void(Arrival)> answer)
    : most_waiting_(most_waiting), answer_(std::move(answer)) {
  for (std::size_t n = 0; n < threads; ++n) threads_.emplace_back([this] { run(); });
}

Workers::~Workers() { stop(); }

bool Workers::offer(Arrival& arrival) {
  {
    const std::scoped_lock lock(mutex_);
    if (stops_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(arrival));
  }
  came_.notify_one();
  return true;
}

void Workers::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    waiting_.clear();
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [this] { return stops_ || !waiting_.empty(); });
    if (stops_) return;
    Arrival arrival = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    answer_(std::move(arrival));
    lock.lock();
  }
}

}  // namespace qkv::studio
