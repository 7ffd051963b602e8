// How far a walk over a matrix is, on standard error; and Ctrl-C, which ends it.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

#include "progress.h"

namespace qkv::cli {

/// While it lives, the first SIGINT and the first SIGTERM are noted rather than end the process.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  [[nodiscard]] static bool interrupted();

 private:
  struct sigaction interrupt_{};
  struct sigaction terminate_{};
};

enum class Speech : std::uint8_t { on, off };

/// On a terminal a bar with rate and time left, which goes when it ends; elsewhere a line for each tenth, of a
/// computation that takes more than a few seconds.
class WalkProgress {
 public:
  WalkProgress(std::string label, Speech speech);

  /// `done` of `total` pairs. Not for two threads at once.
  void show(std::int64_t done, std::int64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  void draw_bar(double share, double seconds, std::int64_t done);
  void write_line(double share, double seconds, std::int64_t done);

  std::string label_;
  Speech speech_;
  bool terminal_;
  Progress line_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  int tenths_ = 0;
};

}  // namespace qkv::cli
