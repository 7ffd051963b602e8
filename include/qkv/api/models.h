// The models that faces ask about: opened by name, with the texts to look at them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/given_texts.h"
#include "qkv/api/saying.h"
#include "qkv/insight/texts.h"
#include "qkv/model/embed.h"
#include "qkv/model/text_model.h"
#include "qkv/text/syntax.h"

namespace qkv {

/// A model that is open, for whoever asks it.
using OpenedModel = std::shared_ptr<const TextModel>;

/// The model of this name or path. Throws InvalidArgument naming `model`, or Error where its file cannot be read.
[[nodiscard]] OpenedModel open_model(const std::string& name, QuantisedWeights quantised = QuantisedWeights::as_f32);
/// The same, and says what the model is to be read with care for.
[[nodiscard]] OpenedModel open_model(const std::string& name, const Saying& saying,
                                     QuantisedWeights quantised = QuantisedWeights::as_f32);

/// Says what of a text lies outside of what the model's task draws: it may answer anything where it never learned to.
/// The text is one that the model reads; one that reads pictures is not asked.
void say_outside(const TextModel& model, const std::string& text, const Saying& saying);

/// embed_options_of() what reads texts as they are and compares vectors by cosines: the folder's cautions, a default
/// prompt and another similarity are said.
[[nodiscard]] EmbedOptions vectors_without_prompt(const std::string& path, const Saying& saying);

/// The lines of the file that `field` names as texts of a model whose heads are looked at; empty ones are left out.
/// Throws InvalidArgument naming "FILE, line N" for a line that the model cannot read, the field for all else.
[[nodiscard]] HeadTexts texts_of_lines(const TextModel& trained, std::string_view field, const FileOfTexts& file);

/// head_texts() of the first `count` held-out examples of the model's task; of a model without examples of its own as
/// many sentences of the task english. Throws InvalidArgument naming count if it is below 1, and trained if the model
/// writes captions and has no examples.
[[nodiscard]] HeadTexts texts_to_look_at(const TextModel& trained, std::int64_t count);

/// English sentences with their trees. Throws InvalidArgument naming count if it is below 1.
[[nodiscard]] std::vector<ParsedSentence> trees_to_look_at(std::int64_t count);

}  // namespace qkv
