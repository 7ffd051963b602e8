// Tokenizers of a tokenizer.model, which do what SentencePiece does (Kudo and Richardson 2018).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "qkv/text/tokenizer.h"

namespace qkv::text {

inline constexpr const char* kSentencePieceKind = "tokenizer.model";

/// Which special tokens stand around a text.
struct SentencePieceEnds {
  bool bos = false;
  bool eos = false;
};

/// `source` names the model in errors.
[[nodiscard]] std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, SentencePieceEnds ends,
                                                                   const std::string& source);
/// The counterpart of config().
[[nodiscard]] std::shared_ptr<const Tokenizer> sentence_piece_of(const std::map<std::string, std::string>& config);

}  // namespace qkv::text
