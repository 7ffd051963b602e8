#include "api/studio/question_watch.h"

#include <fmt/format.h>

namespace qkv::api_detail {
namespace {

thread_local QuestionWatch* question_of_thread = nullptr;

}  // namespace

QuestionWatch::QuestionWatch(const StudioWatch& watch, double seconds)
    : watch_(watch),
      seconds_(seconds),
      told_([this](std::string_view what, const ProbeProgress& progress) { return tell(what, progress); }),
      asked_([this] { return ask(); }),
      outer_(question_of_thread),
      watched_(asked_) {
  question_of_thread = this;
}

QuestionWatch::~QuestionWatch() { question_of_thread = outer_; }

double QuestionWatch::seconds_so_far() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

bool QuestionWatch::is_there() { return question_of_thread != nullptr; }

Proceed QuestionWatch::proceed() { return question_of_thread == nullptr ? Proceed::go_on : question_of_thread->ask(); }

void QuestionWatch::note(std::string_view what, const ProbeProgress& progress) {
  if (question_of_thread == nullptr) return;
  const std::scoped_lock lock(question_of_thread->mutex_);
  question_of_thread->what_ = what;
  question_of_thread->progress_ = progress;
}

void QuestionWatch::doing(std::string_view what, const ProbeProgress& progress) {
  note(what, progress);
  core::look();
}

// A helper of the pool may be telling at this moment: what it hears counts for both.
Proceed QuestionWatch::ask() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Proceed::go_on;
  if (seconds_ > 0 && seconds_so_far() > seconds_) {
    throw Error(fmt::format("stopped after {:.0f} s, the longest that one question may take here", seconds_));
  }
  constexpr double kSilent = 0.5;  // seconds, after which whoever waits is told that there is work
  if (what_.empty() && seconds_so_far() > kSilent) {
    what_ = "the answer";
    progress_ = {.done = 0, .total = 1};
  }
  if (!is_stopped_ && watch_) is_stopped_ = watch_(what_, progress_) == Proceed::stop;
  return is_stopped_ ? Proceed::stop : Proceed::go_on;
}

Proceed QuestionWatch::tell(std::string_view what, const ProbeProgress& progress) {
  {
    const std::scoped_lock lock(mutex_);
    what_ = what;
    progress_ = progress;
  }
  return ask();
}

}  // namespace qkv::api_detail
