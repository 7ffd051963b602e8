// What the thread that answers a question asks now and then, whatever it computes: whether anybody still waits.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "core/watched.h"
#include "qkv/api/studio.h"

namespace qkv::api_detail {

/// Lives on the thread that answers, while it answers. The watch of the question is asked by whatever the thread
/// computes, and by the answer itself with what it is doing.
class QuestionWatch {
 public:
  /// `seconds`: after so many the work ends with Error; 0: it may take as long as it likes. `watch` may be empty.
  QuestionWatch(const StudioWatch& watch, double seconds);
  QuestionWatch(const QuestionWatch&) = delete;
  QuestionWatch& operator=(const QuestionWatch&) = delete;
  ~QuestionWatch();

  /// For the answer: notes what is done, and asks. Any thread may call it.
  [[nodiscard]] const StudioWatch& told() const noexcept { return told_; }

  [[nodiscard]] double seconds_so_far() const;

  /// Whether this thread answers a question.
  [[nodiscard]] static bool is_there();
  /// Whether the question of this thread is still waited for; go_on where there is none. Throws Error where it has
  /// taken too long.
  [[nodiscard]] static Proceed proceed();
  /// Notes what the question of this thread is doing, and asks nobody.
  static void note(std::string_view what, const ProbeProgress& progress);
  /// note(), and asks. Throws Cancelled where nobody waits for that any more.
  static void doing(std::string_view what, const ProbeProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  Proceed ask();
  Proceed tell(std::string_view what, const ProbeProgress& progress);

  const StudioWatch& watch_;
  double seconds_;
  Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::string what_;
  ProbeProgress progress_;
  bool is_stopped_ = false;
  StudioWatch told_;
  CallWatch asked_;
  QuestionWatch* outer_;
  core::Watched watched_;
};

}  // namespace qkv::api_detail
