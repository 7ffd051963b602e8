// What `qkv tokens` prints as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/member.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// Of a text, or of two.
struct TokensFigures {
  std::vector<std::int32_t> ids;
  std::vector<std::vector<std::int64_t>> offsets;  // begin and end
  std::vector<std::string> pieces, sources;
  std::vector<std::int32_t> types;
};

/// Of tokens.
struct TokensText {
  std::string text;
};

struct VocabularyPiece {
  std::int64_t id = 0;
  std::string piece;
};

/// Of a vocabulary, or of the pieces that hold a text.
struct VocabularyFigures {
  std::vector<VocabularyPiece> pieces;
  std::int64_t size = 0;
};

[[nodiscard]] TokensFigures tokens_figures(const Encoding& encoding, const Tokenizer& tokenizer);

[[nodiscard]] const Members<TokensFigures>& members_of(const TokensFigures* figures);
[[nodiscard]] const Members<TokensText>& members_of(const TokensText* text);
[[nodiscard]] const Members<VocabularyPiece>& members_of(const VocabularyPiece* piece);
[[nodiscard]] const Members<VocabularyFigures>& members_of(const VocabularyFigures* figures);

}  // namespace qkv
