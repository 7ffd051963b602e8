#include "workers.h"

#include <sys/resource.h>

#include <utility>

namespace qkv::studio {

namespace {

// Of this thread alone, as Linux has it, and of those that it starts.
void give_way() {
  constexpr int kNicer = 5;
  if (::setpriority(PRIO_PROCESS, 0, kNicer) != 0) return;  // then it takes its turn like the others
}

}  // namespace

Workers::Workers(const WorkersOptions& options, std::function<void(Arrival)> answer)
    : options_(options), answer_(std::move(answer)) {
  for (std::size_t n = 0; n < options.threads; ++n) threads_.emplace_back([this] { run(); });
}

Workers::~Workers() { stop(); }

bool Workers::offer(Arrival& arrival) {
  {
    const std::scoped_lock lock(mutex_);
    if (stops_ || waiting_.size() >= options_.waiting) return false;
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
  if (options_.gives_way) give_way();
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
