// Which tokenizers of `transformers` are known here, by their classes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/files_beside.h"

namespace qkv::text {

/// What `transformers` takes for a model_type; empty for one that is not known here.
[[nodiscard]] std::string_view tokenizer_class_of(std::string_view model_type);

/// What an older file holds.
enum class OlderFile : std::uint8_t { word_piece, byte_level, sentence_piece };

/// Names a tokenizer_class that is not known for such a file. Throws Error, which names the file, for one whose tokens
/// would surely be others.
void require_known_class(const FilesBeside& files, OlderFile file, const std::string& source);

/// Of RoBERTa's kind: vocab.json, with a token around each text.
[[nodiscard]] bool is_roberta(std::string_view tokenizer_class);

}  // namespace qkv::text
