// The model that a run goes on from: `from` of its settings.
#pragma once

#include <string>
#include <string_view>

#include "qkv/train/settings.h"

namespace qkv::training {

/// Opened, with its parameters as they are stored. Throws Error as Model::open(), and InvalidArgument("train", "from",
/// …) for a model that scores no tokens of a text, or has no tokenizer.
[[nodiscard]] Model starting_model(const TrainSettings& settings);

/// What such a model learns of a text: to say the next token, what was masked, or the second half after the first.
/// Throws as make_text_task(), of this run.
[[nodiscard]] std::unique_ptr<const Task> text_task_for(const Model& model, std::string_view text,
                                                        const TrainSettings& settings);

}  // namespace qkv::training
