// The models that faces ask about: opened by name, with the texts to look at them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "qkv/insight/texts.h"
#include "qkv/model/text_model.h"
#include "qkv/text/syntax.h"

namespace qkv {

/// A model that is open, for whoever asks it.
using OpenedModel = std::shared_ptr<const TextModel>;

/// The model of this name or path. Throws InvalidArgument naming `model`, or Error where its file cannot be read.
[[nodiscard]] OpenedModel open_model(const std::string& name, QuantisedWeights quantised = QuantisedWeights::as_f32);

/// head_texts() of the first `count` held-out examples of the model's task; of a model without examples of its own as
/// many sentences of the task english. Throws InvalidArgument naming count if it is below 1, and trained if the model
/// writes captions and has no examples.
[[nodiscard]] HeadTexts texts_to_look_at(const TextModel& trained, std::int64_t count);

/// English sentences with their trees. Throws InvalidArgument naming count if it is below 1.
[[nodiscard]] std::vector<ParsedSentence> trees_to_look_at(std::int64_t count);

}  // namespace qkv
