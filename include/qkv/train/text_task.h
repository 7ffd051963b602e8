// A text of the reader's own as a task: say the next character, or the next token of a tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/text/tokenizer.h"
#include "qkv/train/task.h"

namespace qkv {

/// What an example of a text asks for.
enum class TextObjective : std::uint8_t {
  next,       // after each token the next one: a decoder
  masked,     // what stood where 15 % of the tokens are changed: an encoder (Devlin et al. 2019, section 3.1)
  continued,  // the second half after the first, which is the source: an encoder-decoder (Raffel et al. 2020, 3.2.3)
};

struct TextTaskOptions {
  std::uint64_t seed = 0;
  std::int64_t length = 128;                             // characters, or tokens, that an example holds
  std::shared_ptr<const Tokenizer> tokenizer = nullptr;  // that cuts the text; null: at characters
  TextObjective objective = TextObjective::next;         // all but `next` need a tokenizer
  std::int32_t start = 0;                                // with which the tokens of `continued` begin
};

/// Examples are windows of `text`, UTF-8: of the training split anywhere in the first seven eighths, by a draw of
/// Philox numbers; of the test split one after the other in the last eighth, and again from its start. Every character
/// is asked and counts; info().accuracy is 0, for there is no goal. The vocabulary is the 1,023 most frequent
/// characters, the rest being "<unknown>"; or that of options.tokenizer, which cuts the text once, without the special
/// tokens of its template, and then all is said of tokens. What an encoder reads has these special tokens around it.
/// Of `masked` eight changed tokens in ten are the tokenizer's mask, one is any token, and one stays; without a draw of
/// 15 % one token is changed; only they are asked. Throws InvalidArgument naming text, which messages call `name`,
/// where it is not UTF-8 (without a tokenizer) or an eighth of it is shorter than an example and one more; naming
/// tokenizer where the objective needs one, or one with a mask; and naming length where the special tokens leave no
/// room.
[[nodiscard]] std::unique_ptr<const Task> make_text_task(std::string_view text, const std::string& name,
                                                         const TextTaskOptions& options = {});

}  // namespace qkv
