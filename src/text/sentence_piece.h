// Tokenizers of a tokenizer.model, which do what SentencePiece does (Kudo and Richardson 2018).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "qkv/text/tokenizer.h"
#include "text/files_beside.h"
#include "text/sentence_piece_options.h"

namespace qkv::text {

inline constexpr const char* kSentencePieceKind = "tokenizer.model";

/// `source` names the model in errors.
[[nodiscard]] std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model,
                                                                   const SentencePieceOptions& options,
                                                                   const std::string& source);
/// As the files beside it say.
[[nodiscard]] std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, const FilesBeside& files,
                                                                   const std::string& source);
/// The counterpart of config().
[[nodiscard]] std::shared_ptr<const Tokenizer> sentence_piece_of(const std::map<std::string, std::string>& config);

}  // namespace qkv::text
