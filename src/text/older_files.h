// What models had before tokenizer.json, as the tokenizer.json that says the same.
#pragma once

#include <string>
#include <string_view>

#include "text/files_beside.h"
#include "text/json_field.h"

namespace qkv::text {

/// Of a vocab.txt, a piece a line: BERT's pipeline. `source` names the file in errors.
[[nodiscard]] Json json_of_vocab_text(std::string_view vocab, const FilesBeside& beside, const std::string& source);

/// Of a vocab.json and a merges.txt: GPT-2's pipeline, with RoBERTa's template where there are its special tokens;
/// CLIP's if merges mark ends of words; Qwen2's if the files beside name it.
[[nodiscard]] Json json_of_vocab_and_merges(const Json& pieces, std::string_view merges, const FilesBeside& beside,
                                            const std::string& source);

}  // namespace qkv::text
