// On standard error, how much of a long computation or a transfer is done; and Ctrl-C, which ends it.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "progress.h"
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

enum class Speech : std::uint8_t { on, off };

/// What is counted.
enum class WalkUnit : std::uint8_t { pairs, bytes };

/// A bar with rate and time left, which the destructor removes. Where standard error is no terminal, a line for each
/// tenth of what takes more than a few seconds.
class WalkProgress {
 public:
  WalkProgress(std::string label, Speech speech, WalkUnit unit = WalkUnit::pairs);

  /// Leaves what was done already out of the rate; without this call that is nothing, of bytes those of the first
  /// show().
  void go_on_from(std::int64_t done) { before_ = done; }

  /// `done` of `total`, with their rate or `what` behind them. Not for two threads at once.
  void show(std::int64_t done, std::int64_t total);
  void show(std::int64_t done, std::int64_t total, const std::string& what);
  /// Names work of which no share is known, such as an examination.
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

/// A WalkProgress for each stage, one after the other.
class StagedProgress {
 public:
  explicit StagedProgress(Speech speech, WalkUnit unit = WalkUnit::pairs) : speech_(speech), unit_(unit) {}

  void show(std::string_view stage, std::int64_t done, std::int64_t total);

 private:
  Speech speech_;
  WalkUnit unit_;
  std::string stage_;
  std::optional<WalkProgress> walk_;
};

}  // namespace qkv::cli
