// The pool of an engine with one thread: the caller does all tasks.
#include "core/parallel.h"

namespace qkv::core {

void run_on_pool(int /*threads*/, std::int64_t tasks, ParallelBody body) {
  for (std::int64_t task = 0; task < tasks; ++task) body.run(body.body, 0, task);
}

}  // namespace qkv::core
