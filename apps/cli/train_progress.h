// How far a training run is, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "progress.h"
#include "qkv/train/run.h"

namespace qkv::cli {

/// On a terminal a bar with the loss, tokens a second and the time left; elsewhere a line for each tenth.
class TrainProgress {
 public:
  /// Of a run that has `done` of `steps` steps behind it.
  TrainProgress(std::string label, std::int64_t done, std::int64_t steps);

  /// After another step.
  void show(const LoggedStep& step);
  /// What is done that is no step, such as an examination.
  void say(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::int64_t first_;
  std::int64_t done_;
  std::int64_t steps_;
  std::int64_t tokens_ = 0;
  bool terminal_;
  Progress line_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

}  // namespace qkv::cli
