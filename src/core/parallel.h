// Work shared between threads, in numbered tasks.
#pragma once

#include <cstdint>
#include <memory>

#include "core/watched.h"

namespace qkv::core {

/// A body of parallel_for whose type the pool does not know.
struct ParallelBody {
  void (*run)(const void* body, int worker, std::int64_t task);
  const void* body;
};

/// parallel_for with threads >= 2 and tasks >= 2.
void run_on_pool(int threads, std::int64_t tasks, ParallelBody body);

/// Calls body(worker, task) once for each task from 0 to tasks - 1, on at most `threads` threads: the caller as worker
/// 0, and free threads of the process-wide pool as workers 1 to threads - 1. A worker runs one task at a time; tasks
/// start in increasing order. Returns when all are done.
///
/// Any number of threads may call it at once, and a body may call it: no call waits for a worker to become free.
/// The caller look()s before each task that it takes, and once at least. If that or a body throws, tasks that have not
/// started are skipped and the first exception is rethrown here. The pool grows to the largest number of workers asked
/// for, and stays; nothing else is allocated.
template <class Body>
void parallel_for(int threads, std::int64_t tasks, const Body& body) {
  if (threads <= 1 || tasks <= 1) {
    for (std::int64_t task = 0; task < tasks; ++task) {
      look();
      body(0, task);
    }
    return;
  }
  const auto run = [](const void* any, int worker, std::int64_t task) {
    (*static_cast<const Body*>(any))(worker, task);
  };
  run_on_pool(threads, tasks, {.run = run, .body = std::addressof(body)});
}

}  // namespace qkv::core
