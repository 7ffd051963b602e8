#include "train_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace qkv::cli {

TrainProgress::TrainProgress(std::string label, std::int64_t done, std::int64_t steps, double seconds)
    : label_(std::move(label)),
      first_(done),
      done_(done),
      steps_(steps),
      before_(seconds),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

double TrainProgress::seconds() const { return before_ + std::chrono::duration<double>(Clock::now() - begin_).count(); }

void TrainProgress::say(const std::string& what) {
  const std::string text = label_ + ": " + what;
  terminal_ ? line_.show(text) : line_.note(text);
}

void TrainProgress::show(double loss, std::int64_t tokens) {
  const std::int64_t tenth = 10 * done_ / steps_;
  ++done_;
  tokens_ += tokens;
  const Clock::time_point now = Clock::now();
  const bool wanted =
      terminal_ ? now - last_ >= std::chrono::milliseconds(100) || done_ == steps_ : 10 * done_ / steps_ > tenth;
  if (!wanted) return;
  last_ = now;
  const double time = seconds() - before_;
  const double share = static_cast<double>(done_) / static_cast<double>(steps_);
  const double left = time * static_cast<double>(steps_ - done_) / static_cast<double>(done_ - first_);
  const std::string text = fmt::format("{:3.0f} %  step {}  loss {:.4f}  {:.1f} k tokens/s  {} left", 100 * share,
                                       done_, loss, static_cast<double>(tokens_) / time / 1e3, duration_text(left));
  if (terminal_) {
    constexpr int kWidth = 24;
    const auto filled = static_cast<std::size_t>(share * kWidth);
    line_.show(fmt::format("{}  [{}{}] {}", label_, std::string(filled, '#'), std::string(kWidth - filled, '.'), text));
    return;
  }
  line_.note(label_ + ": " + text);
}

}  // namespace qkv::cli
