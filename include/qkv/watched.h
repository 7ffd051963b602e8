// A watch over all calls of a thread.
#pragma once

#include <memory>

#include "qkv/cancel.h"

namespace qkv {

namespace core {
class Watched;
}

/// While it lives, whatever this thread computes asks `watch` between tasks of some milliseconds: a model's pass, what
/// is found out about it, a call of attention whose options have no watch of their own. `stop` ends what runs with
/// Cancelled, an exception ends it with that. An outer one of the same thread is not asked meanwhile. Lives on the
/// thread that made it, and ends before outer ones do.
class WatchedThread {
 public:
  explicit WatchedThread(CallWatch watch);
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;
  ~WatchedThread();

 private:
  CallWatch watch_;
  std::unique_ptr<core::Watched> watched_;
};

}  // namespace qkv
