// What models had before tokenizer.json, as the tokenizer.json that says the same.
#pragma once

#include <string>
#include <string_view>

#include "text/files_beside.h"
#include "text/json_field.h"

namespace qkv::text {

/// Of a vocab.txt, a piece a line: BERT's pipeline. `source` names the file in errors.
[[nodiscard]] Json json_of_vocab_text(std::string_view vocab, const FilesBeside& files, const std::string& source);

/// Of a vocab.json and a merges.txt: GPT-2's pipeline; CLIP's if merges mark ends of words; RoBERTa's or Qwen2's if the
/// files beside name it. Where they name nothing, pieces <s>, </s> and <mask> are RoBERTa's.
[[nodiscard]] Json json_of_vocab_and_merges(const Json& pieces, std::string_view merges, const FilesBeside& files);

/// The template that puts these two around a text, as tokenizers of this class do; null if one of them is not in
/// `added`, tokens with their "content" and "id".
[[nodiscard]] Json template_around(const std::string& tokenizer_class, const Json& added, const std::string& cls,
                                   const std::string& sep);

}  // namespace qkv::text
