#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "qkv/api/saying.h"
#include "qkv/picture/terminal.h"

namespace qkv::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

std::string rate_text(double rate, WalkUnit unit) {
  if (unit == WalkUnit::bytes) return fmt::format("{:.1f} MB/s", rate / 1e6);
  if (rate >= 1e9) return fmt::format("{:.1f} G pairs/s", rate / 1e9);
  return fmt::format("{:.0f} M pairs/s", rate / 1e6);
}

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  shown_ = true;
  std::fputs((kClearLine + one_line(text)).c_str(), stderr);
  std::fflush(stderr);
}

void Progress::note(const std::string& text) {
  constexpr std::chrono::seconds kSilent{3};
  if (terminal_ || text == noted_ || std::chrono::steady_clock::now() - begin_ < kSilent) return;
  noted_ = text;
  std::fputs((one_line(text) + "\n").c_str(), stderr);
}

void WalkProgress::enter(std::string_view stage) {
  if (stage == stage_) return;
  stage_ = stage;
  before_.reset();
  begin_ = last_ = Clock::now();
  tenths_ = 0;
}

void WalkProgress::go_on_from(std::string_view stage, std::int64_t done) {
  enter(stage);
  before_ = done;
}

double WalkProgress::seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

void WalkProgress::show(std::string_view stage, std::int64_t done, std::int64_t total) {
  enter(stage);
  if (!before_) before_ = unit_ == WalkUnit::bytes ? done : 0;
  show(stage, done, total, rate_text(static_cast<double>(done - *before_) / seconds(), unit_));
}

void WalkProgress::show(std::string_view stage, std::int64_t done, std::int64_t total, const std::string& what) {
  enter(stage);
  if (speech_ == Speech::off || total <= 0) return;
  const double rate = static_cast<double>(done - before_.value_or(0)) / seconds();
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  if (!line_.is_terminal()) return write_line(share, left, what);
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100) && done < total) return;
  last_ = now;
  constexpr int kWidth = 24;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  line_.show(fmt::format("{}  [{}{}] {:3.0f} %  {}  {} left", stage_, std::string(filled, '#'),
                         std::string(kWidth - filled, '.'), 100 * share, what, duration_text(left)));
}

void WalkProgress::say(const std::string& what) {
  const std::string text = stage_ + ": " + what;
  line_.is_terminal() ? line_.show(text) : line_.note(text);
}

void WalkProgress::say(std::string_view stage, const std::string& what) {
  enter(stage);
  if (speech_ == Speech::on) say(what);
}

void WalkProgress::write_line(double share, double left, const std::string& what) {
  const int tenths = static_cast<int>(10 * share);
  if (tenths <= tenths_ || tenths == 10) return;
  tenths_ = tenths;
  line_.note(fmt::format("{}: {} %, {}, {} left", stage_, 10 * tenths, what, duration_text(left)));
}

}  // namespace qkv::cli
