// On standard error, where somebody looks at it, what is going on and how much of it is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qkv::cli {

/// One line. show() does nothing where standard error is not a terminal. The line is cleared when this goes.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  [[nodiscard]] bool is_terminal() const { return terminal_; }
  void show(const std::string& text);

  /// Elsewhere than on a terminal: writes a line that stays, of what takes more than a few seconds, once.
  void note(const std::string& text);

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string noted_;
  bool shown_ = false;
  bool terminal_ = false;
};

enum class Speech : std::uint8_t { on, off };

/// What is counted.
enum class WalkUnit : std::uint8_t { pairs, bytes };

/// Of work in one stage after the other a bar with rate and time left. Where standard error is no terminal, a line for
/// each tenth of what takes more than a few seconds.
class WalkProgress {
 public:
  explicit WalkProgress(Speech speech, WalkUnit unit = WalkUnit::pairs) : speech_(speech), unit_(unit) {}

  /// Leaves what was done already out of the rate; without this call that is nothing, of bytes those of the first
  /// show().
  void go_on_from(std::string_view stage, std::int64_t done);

  /// `done` of `total`, with their rate or `what` behind them. Not for two threads at once.
  void show(std::string_view stage, std::int64_t done, std::int64_t total);
  void show(std::string_view stage, std::int64_t done, std::int64_t total, const std::string& what);
  /// Names work of which no share is known, such as an examination.
  void say(const std::string& what);
  void say(std::string_view stage, const std::string& what);
  /// Since the stage began.
  [[nodiscard]] double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  void enter(std::string_view stage);
  void write_line(double share, double left, const std::string& what);

  Speech speech_;
  WalkUnit unit_;
  std::string stage_;
  std::optional<std::int64_t> before_;
  Progress line_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  int tenths_ = 0;
};

}  // namespace qkv::cli
