// Tokenizers of Marian's models: pieces of a SentencePiece file for one language, numbered by a vocab.json for both.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "qkv/text/tokenizer.h"
#include "text/files_beside.h"

namespace qkv::text {

inline constexpr const char* kMarianKind = "marian";

/// Of a source.spm or target.spm with a vocab.json beside it. Throws Error naming the file, what was expected and what
/// came: a vocabulary whose numbers are not 0, 1, 2, …, or without the tokens for the end of a text and for what is
/// unknown; a config that has another vocabulary for the target.
[[nodiscard]] std::shared_ptr<const Tokenizer> read_marian(const std::filesystem::path& file, const FilesBeside& files);
/// The counterpart of config().
[[nodiscard]] std::shared_ptr<const Tokenizer> marian_of(const std::map<std::string, std::string>& config);

}  // namespace qkv::text
