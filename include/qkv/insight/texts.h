// Texts for analyze_heads(): the reader's own, or a task's held-out examples.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/model/shown.h"
#include "qkv/model/text_model.h"

namespace qkv {

struct HeadTexts {
  std::vector<HeadText> texts;
  RepeatedTokens repeats;   // for options.repeats: tokens of these texts or, of a model of no task, all but separators
  MaskedTokens masks = {};  // for options.masks: of an encoder that fills gaps and learnt no task
  TaskPatterns patterns = {};           // for options.patterns: of examples of a task
  std::string described;                // "64 held-out examples of induction"
  std::vector<std::string> shown = {};  // the tokens of the first text, as shown_token() has them
};

/// The reader's own texts. Targets are those that the model's task asks for, of another decoder each next token. Of an
/// encoder-decoder a text is the source, and its tokens are those that the model writes, the likeliest, up to as many
/// as its task has or 16; where the task asks for nothing they are the targets. Two towers read it with that of texts
/// alone. Throws InvalidArgument naming texts if there are none, or the model is a captioner, and
/// texts[n] where TextModel::example_of() refuses text n.
[[nodiscard]] HeadTexts head_texts(const TextModel& trained, std::span<const std::string> texts);

/// The same of what the model is shown: conversations, pictures, or sounds, whose tokens are those that it writes. A
/// picture's target is the class that the model finds likeliest. Errors call the n-th `field`[n].
[[nodiscard]] HeadTexts head_texts(const TextModel& trained, std::span<const Shown> shown, std::string_view field);

/// The first `count` held-out examples of the model's task. Throws InvalidArgument naming count if it is below 1, and
/// Error as TextModel::examples().
[[nodiscard]] HeadTexts head_texts(const TextModel& trained, std::int64_t count);

}  // namespace qkv
