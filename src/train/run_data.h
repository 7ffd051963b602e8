// What a run learns from: the same as before, or not.
#pragma once

#include <string>

#include "model/words.h"
#include "qkv/train/settings.h"

namespace qkv::training {

/// Of the parameters in model.safetensors. Throws InvalidArgument("train", "store", …) for another word.
[[nodiscard]] DType stored_dtype(const TrainSettings& settings);
/// A hash of the vocabularies, some examples and all data that they are made of, in hexadecimal.
[[nodiscard]] std::string fingerprint(const Task& task);
/// Throws Error if the run that `saved` is of had other examples.
void require_same_examples(const Words& saved, const Words& now);

}  // namespace qkv::training
