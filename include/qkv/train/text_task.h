// A text of the reader's own as a task: say the next character.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/train/task.h"

namespace qkv {

struct TextTaskOptions {
  std::uint64_t seed = 0;
  std::int64_t length = 128;  // characters that an example holds
};

/// Examples are windows of `text`, UTF-8: of the training split anywhere in the first seven eighths, by a draw of
/// Philox numbers; of the test split one after the other in the last eighth, and again from its start. Every character
/// is asked and counts; info().accuracy is 0, for there is no goal. The vocabulary is the 1,023 most frequent
/// characters, the rest being "<unknown>". Throws InvalidArgument naming `name`, which messages call the text, where
/// it is not UTF-8 or an eighth of it is shorter than an example and one character more.
[[nodiscard]] std::unique_ptr<const Task> make_text_task(std::string_view text, const std::string& name,
                                                         const TextTaskOptions& options = {});

}  // namespace qkv
