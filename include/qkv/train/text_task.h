// A text of the reader's own as a task: say the next character, or the next token of a tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/text/tokenizer.h"
#include "qkv/train/task.h"

namespace qkv {

struct TextTaskOptions {
  std::uint64_t seed = 0;
  std::int64_t length = 128;                             // characters, or tokens, that an example holds
  std::shared_ptr<const Tokenizer> tokenizer = nullptr;  // that cuts the text; null: at characters
};

/// Examples are windows of `text`, UTF-8: of the training split anywhere in the first seven eighths, by a draw of
/// Philox numbers; of the test split one after the other in the last eighth, and again from its start. Every character
/// is asked and counts; info().accuracy is 0, for there is no goal. The vocabulary is the 1,023 most frequent
/// characters, the rest being "<unknown>"; or that of options.tokenizer, which cuts the text once, without the special
/// tokens of its template, and then all is said of tokens. Throws InvalidArgument naming `name`, which messages call
/// the text, where it is not UTF-8 (without a tokenizer) or an eighth of it is shorter than an example and one more.
[[nodiscard]] std::unique_ptr<const Task> make_text_task(std::string_view text, const std::string& name,
                                                         const TextTaskOptions& options = {});

}  // namespace qkv
