// Settings as words of a checkpoint, and back.
#pragma once

#include "model/words.h"
#include "qkv/train/settings.h"

namespace qkv::training {

[[nodiscard]] Words words_of(const TrainSettings& settings);
/// Throws Error naming the word that is missing or has no meaning.
[[nodiscard]] TrainSettings settings_of(const Words& words);
[[nodiscard]] Words words_of(const TrainReporting& reporting);
/// Words that are missing leave what is usual.
[[nodiscard]] TrainReporting reporting_of(const Words& words);

}  // namespace qkv::training
