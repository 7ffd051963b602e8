// A training run in words.
#pragma once

#include <string>

#include "qkv/train/run.h"

namespace qkv::cli {

/// The report for people; `place` is where the run has written.
[[nodiscard]] std::string text_of(const TrainReport& report, const TrainPlace& place);
/// The command that goes on with the run, as a shell reads it.
[[nodiscard]] std::string resuming_command(const TrainSettings& settings, const TrainPlace& place);

}  // namespace qkv::cli
