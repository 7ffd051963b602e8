#include "walk_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "qkv/api/saying.h"
#include "qkv/written_files.h"

namespace qkv::cli {
namespace {

volatile std::sig_atomic_t signal_came = 0;  // NOLINT(*-avoid-non-const-global-variables): a handler sees nothing else

// The process ends as the signal ends it, without the files that it was writing.
void end_by_signal(int signal) {
  remove_unfinished_files();
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
  ::raise(signal);
}

// The second Ctrl-C ends the process at once.
void note_signal(int signal) {
  if (signal_came != 0) return end_by_signal(signal);
  signal_came = signal;
}

struct sigaction handled_by(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  return action;
}

std::string rate_text(double rate, WalkUnit unit) {
  if (unit == WalkUnit::bytes) return fmt::format("{:.1f} MB/s", rate / 1e6);
  if (rate >= 1e9) return fmt::format("{:.1f} G pairs/s", rate / 1e9);
  return fmt::format("{:.0f} M pairs/s", rate / 1e6);
}

}  // namespace

void remove_unfinished_files_on_signals() {
  const struct sigaction action = handled_by(end_by_signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);  // nohup's stays
  }
}

// Once: what is drawn and saved afterwards is not stopped again.
InterruptWatch::InterruptWatch()
    : calls_([this] {
        if (!interrupted() || has_stopped_) return Proceed::go_on;
        has_stopped_ = true;
        return Proceed::stop;
      }) {
  signal_came = 0;
  const struct sigaction action = handled_by(note_signal);
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

InterruptWatch::~InterruptWatch() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

bool InterruptWatch::interrupted() { return signal_came != 0; }
bool InterruptWatch::terminated() { return signal_came == SIGTERM; }

WalkProgress::WalkProgress(std::string label, Speech speech, WalkUnit unit)
    : label_(std::move(label)), speech_(speech), unit_(unit), terminal_(::isatty(STDERR_FILENO) == 1) {}

double WalkProgress::seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

void WalkProgress::show(std::int64_t done, std::int64_t total) {
  if (!before_) before_ = unit_ == WalkUnit::bytes ? done : 0;
  show(done, total, rate_text(static_cast<double>(done - *before_) / seconds(), unit_));
}

void WalkProgress::show(std::int64_t done, std::int64_t total, const std::string& what) {
  if (speech_ == Speech::off || total <= 0) return;
  const double rate = static_cast<double>(done - before_.value_or(0)) / seconds();
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  if (!terminal_) return write_line(share, left, what);
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100) && done < total) return;
  last_ = now;
  constexpr int kWidth = 24;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  line_.show(fmt::format("{}  [{}{}] {:3.0f} %  {}  {} left", label_, std::string(filled, '#'),
                         std::string(kWidth - filled, '.'), 100 * share, what, duration_text(left)));
}

void WalkProgress::say(const std::string& what) {
  const std::string text = label_ + ": " + what;
  terminal_ ? line_.show(text) : line_.note(text);
}

void StagedProgress::show(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (!walk_ || stage != stage_) {
    stage_ = stage;
    walk_.emplace(stage_, speech_, unit_);
  }
  walk_->show(done, total);
}

void WalkProgress::write_line(double share, double left, const std::string& what) {
  const int tenths = static_cast<int>(10 * share);
  if (tenths <= tenths_ || tenths == 10) return;
  tenths_ = tenths;
  line_.note(fmt::format("{}: {} %, {}, {} left", label_, 10 * tenths, what, duration_text(left)));
}

}  // namespace qkv::cli
