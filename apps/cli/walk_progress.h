// How far a walk over a matrix, or a transfer, is, on standard error; and Ctrl-C, which ends it.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include "progress.h"
#include "qkv/watched.h"

namespace qkv::cli {

/// From here on SIGINT, SIGTERM and SIGHUP end the process without leaving the temporary files that it is writing.
void remove_unfinished_files_on_signals();

/// While it lives, the first SIGINT or SIGTERM is noted rather than ends the process, and what this thread computes is
/// stopped once, by Cancelled, within some milliseconds. The second ends the process.
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

enum class Speech : std::uint8_t { on, off };

/// What is counted.
enum class WalkUnit : std::uint8_t { pairs, bytes };

/// On a terminal a bar with rate and time left, which goes when it ends; elsewhere a line for each tenth, of a
/// computation that takes more than a few seconds.
class WalkProgress {
 public:
  WalkProgress(std::string label, Speech speech, WalkUnit unit = WalkUnit::pairs);

  /// So many were done already; of bytes, those of the first call of show().
  void go_on_from(std::int64_t done) { before_ = done; }

  /// `done` of `total`, with their rate, or with `what`. Not for two threads at once.
  void show(std::int64_t done, std::int64_t total);
  void show(std::int64_t done, std::int64_t total, const std::string& what);
  /// What is done that has no share, such as an examination.
  void say(const std::string& what);
  /// Since it was made.
  [[nodiscard]] double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  void write_line(double share, double left, const std::string& what);

  std::string label_;
  Speech speech_;
  WalkUnit unit_;
  std::optional<std::int64_t> before_;
  bool terminal_;
  Progress line_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  int tenths_ = 0;
};

}  // namespace qkv::cli
