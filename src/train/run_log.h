// The log of a run: a line of JSON for each step.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/train/run.h"

namespace qkv::training {

/// Every line is with the system when append() returns.
class RunLog {
 public:
  /// Begins the file anew, or goes on after step `done`, whose later lines are taken away: they belong to steps that
  /// are done again. Throws Error.
  RunLog(const TrainPlace& place, std::int64_t done);

  /// Throws Error if it cannot be written.
  void append(const LoggedStep& step) const;

 private:
  std::string path_;
};

}  // namespace qkv::training
