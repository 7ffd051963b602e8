// A text as a model reads it, with what the model is asked there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/model/text_model.h"

namespace qkv::insight {

/// Whether the model writes tokens after a text.
[[nodiscard]] bool is_writer(const TextModel& trained);

/// Lets the model write as many tokens after those of the example as `most` or the task wants. True if the task asks
/// for one more, which is said at the last place: the last token of a sum. Throws InvalidArgument naming `answer` if
/// the text with these is longer than the model's learned positions.
bool write_answer(const TextModel& trained, std::optional<std::int64_t> most, Example& example);

/// Lets an encoder-decoder write up to `most` tokens, the likeliest, after those of each example, many together.
void write_answers(const TextModel& trained, std::int64_t most, std::span<Example> examples);

/// Where each place of a sound begins: "0.02 s".
[[nodiscard]] std::vector<std::string> times_of(const TextModel& trained);

/// The last place of the example's tokens where the task asks for something, answered or not; else the last.
[[nodiscard]] std::size_t asked_place(const TextModel& trained, const Example& example);

/// The row of asked_place() in what a pass over the example gives: a joined text has its source's places before its
/// own.
[[nodiscard]] std::int64_t asked_row(const TextModel& trained, const Example& example, const Batch& batch);

/// Of each token. Those of a joined text's source may be numbered after the others.
[[nodiscard]] std::vector<TokenRole> roles_of(const TextModel& trained, const std::vector<std::int64_t>& ids,
                                              const Tokenizer& tokenizer);

/// With the targets of the example; of a decoder whose example asks for nothing, each next token.
[[nodiscard]] HeadText head_text_of(const TextModel& trained, const Example& example);
/// shown_token() of a token that may be one of a joined text's source, numbered after the others.
[[nodiscard]] std::string shown_token_of(const TextModel& trained, std::int32_t token);
/// Those of a text.
[[nodiscard]] std::vector<std::string> shown_tokens(const TextModel& trained, const HeadText& text);

}  // namespace qkv::insight
