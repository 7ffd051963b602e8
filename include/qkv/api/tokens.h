// A text as tokens, tokens as a text, and a vocabulary: `qkv tokens`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// A text, the texts of a file, ids, or pieces of the vocabulary: one of them.
struct TokensRequest {
  std::string tokenizer;  // a model of the box, a model file, a folder, or one of its files
  std::optional<std::string> text, pair;
  FileOfTexts file;
  std::optional<std::string> ids, search;
  bool list = false;
  bool source = false;
  bool no_specials = false;

  [[nodiscard]] SpecialTokens special() const { return no_specials ? SpecialTokens::without : SpecialTokens::with; }
};

[[nodiscard]] const Fields<TokensRequest>& tokens_fields();

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

/// Tokens of a text, or of each text of a file; the text of ids; or pieces, all or those whose text, or whose text as
/// it is read, holds the request's `search`.
using TokensFound = std::variant<TokensFigures, std::vector<TokensFigures>, TokensText, VocabularyFigures>;

/// Says what the tokenizer's files say in vain. Throws InvalidArgument naming the field, and Error for files that
/// cannot be read.
[[nodiscard]] TokensFound found_tokens(const TokensRequest& request, const Saying& saying = {});
[[nodiscard]] AnyReply answer(const TokensRequest& request);

/// For people: number, id, piece, bytes and the part of the text of each token; the text; or ids and pieces.
[[nodiscard]] std::string as_text(const TokensRequest& request, const TokensFound& found);

[[nodiscard]] TokensFigures tokens_figures(const Encoding& encoding, const Tokenizer& tokenizer);

[[nodiscard]] const Members<TokensFigures>& members_of(const TokensFigures* figures);
[[nodiscard]] const Members<TokensText>& members_of(const TokensText* text);
[[nodiscard]] const Members<VocabularyPiece>& members_of(const VocabularyPiece* piece);
[[nodiscard]] const Members<VocabularyFigures>& members_of(const VocabularyFigures* figures);

}  // namespace qkv
