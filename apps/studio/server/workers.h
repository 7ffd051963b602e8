// A fixed number of threads, and a bounded queue before them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "door.h"

namespace qkv::studio {

struct WorkersOptions {
  std::size_t threads = 1;
  std::size_t waiting = 1;  // at most
  bool gives_way = false;   // to the threads of others, where there is more to do than processors
};

class Workers {
 public:
  Workers(const WorkersOptions& options, std::function<void(Arrival)> answer);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  /// False, with the arrival left as it is, where too many wait.
  [[nodiscard]] bool offer(Arrival& arrival);

  /// Whoever waits is sent away, and who is being answered is waited for.
  void stop();

 private:
  void run();

  WorkersOptions options_;
  std::function<void(Arrival)> answer_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Arrival> waiting_;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace qkv::studio
