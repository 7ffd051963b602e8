// Ctrl-C.
#pragma once

#include <csignal>

#include "qkv/watched.h"

namespace qkv::cli {

/// From here on the process removes the temporary files that it is writing before SIGINT, SIGTERM or SIGHUP ends it.
void remove_unfinished_files_on_signals();

/// While it lives, the first SIGINT or SIGTERM does not end the process: it stops what this thread computes, by
/// Cancelled, within some milliseconds. The second ends the process.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  [[nodiscard]] static bool interrupted();
  /// Whether the signal was SIGTERM, which asks for the end of the process.
  [[nodiscard]] static bool terminated();

 private:
  struct sigaction interrupt_{};
  struct sigaction terminate_{};
  bool has_stopped_ = false;
  WatchedThread calls_;
};

}  // namespace qkv::cli
