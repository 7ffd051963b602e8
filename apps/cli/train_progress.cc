#include "train_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace qkv::cli {

TrainProgress::TrainProgress(std::string label, std::int64_t done, std::int64_t steps)
    : label_(std::move(label)), first_(done), done_(done), steps_(steps), terminal_(::isatty(STDERR_FILENO) == 1) {}

void TrainProgress::say(const std::string& what) {
  const std::string text = label_ + ": " + what;
  terminal_ ? line_.show(text) : line_.note(text);
}

void TrainProgress::show(const LoggedStep& step) {
  const std::int64_t tenth = 10 * done_ / steps_;
  done_ = step.step;
  tokens_ += step.tokens;
  const Clock::time_point now = Clock::now();
  const bool wanted =
      terminal_ ? now - last_ >= std::chrono::milliseconds(100) || done_ == steps_ : 10 * done_ / steps_ > tenth;
  if (!wanted) return;
  last_ = now;
  const double time = std::chrono::duration<double>(now - begin_).count();
  const double share = static_cast<double>(done_) / static_cast<double>(steps_);
  const double left = time * static_cast<double>(steps_ - done_) / static_cast<double>(done_ - first_);
  const std::string text =
      fmt::format("{:3.0f} %  step {}  loss {:.4f}  {:.1f} k tokens/s  {} left", 100 * share, done_, step.loss,
                  static_cast<double>(tokens_) / time / 1e3, duration_text(left));
  if (terminal_) {
    constexpr int kWidth = 24;
    const auto filled = static_cast<std::size_t>(share * kWidth);
    line_.show(fmt::format("{}  [{}{}] {}", label_, std::string(filled, '#'), std::string(kWidth - filled, '.'), text));
    return;
  }
  line_.note(label_ + ": " + text);
}

}  // namespace qkv::cli
