// What is said in a sound, in words: the tokens with which a transcriber is asked, and what it writes.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/model/text_model.h"
#include "qkv/model/write_text.h"
#include "qkv/wav.h"

namespace qkv {

/// How a model of several languages is asked; those of one take none of these.
struct SpeechOptions {
  // "en" or "<|en|>"; empty: as generation_config.json says, else the likeliest of those that the model knows.
  std::string language = {};
  bool translate = false;  // into English
};

/// A sound of at most what the model reads at once, with the tokens before the first word: start, language and task as
/// far as the model has such, and that no times are asked for; of older folders forced_decoder_ids. Of a model that is
/// no folder the start alone. Throws InvalidArgument naming sound, also where it is longer, language, or translate;
/// Error for a word of generation_config.json without meaning.
[[nodiscard]] Example example_of_sound(const TextModel& model, const Sound& sound, const SpeechOptions& options = {});

/// What the model writes of a sound, of a longer one in pieces of what it reads at once: a word across a joint may be
/// lost. The language is that of the first piece; draw.most is of all pieces together, and the end is `positions` where
/// those of any piece ran out. Throws as example_of_sound() and write_texts().
[[nodiscard]] WrittenText transcribe(const TextModel& model, const Sound& sound, const SpeechOptions& options = {},
                                     const WriteOptions& writing = {});

}  // namespace qkv
