// A text as tokens, tokens as a text, and a vocabulary: `qkv tokens`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// A text, ids, or pieces of the vocabulary: one of them.
struct TokensRequest {
  std::string tokenizer;  // a model of the box, a model file, a folder, or one of its files
  std::optional<std::string> text, pair;
  std::optional<std::string> ids, search;
  bool list = false;
  bool source = false;
  bool no_specials = false;

  /// How many of these are asked for: a text, ids, pieces.
  [[nodiscard]] int asked() const { return (text ? 1 : 0) + (ids ? 1 : 0) + (list || search ? 1 : 0); }
  [[nodiscard]] SpecialTokens special() const { return no_specials ? SpecialTokens::without : SpecialTokens::with; }
};

[[nodiscard]] const Fields<TokensRequest>& tokens_fields();

/// The request's tokenizer; what its files say in vain goes into `cautions`. Throws InvalidArgument naming `tokenizer`
/// or `source`, and Error for files that cannot be read.
[[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer_of(const TokensRequest& request,
                                                            std::vector<std::string>& cautions);

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

/// Of the request's ids. Throws InvalidArgument naming `ids`.
[[nodiscard]] TokensText decoded(const TokensRequest& request, const std::shared_ptr<const Tokenizer>& tokenizer);
/// All pieces, or those whose text, or whose text as it is read, holds the request's `search`.
[[nodiscard]] VocabularyFigures vocabulary_of(const TokensRequest& request, const Tokenizer& tokenizer);
/// Of the request's text, and its pair. Throws InvalidArgument naming `text`.
[[nodiscard]] Encoding encoded(const TokensRequest& request, const Tokenizer& tokenizer);

/// TokensFigures of a text, TokensText of ids, VocabularyFigures of pieces.
[[nodiscard]] AnyReply answer(const TokensRequest& request);

[[nodiscard]] TokensFigures tokens_figures(const Encoding& encoding, const Tokenizer& tokenizer);

[[nodiscard]] const Members<TokensFigures>& members_of(const TokensFigures* figures);
[[nodiscard]] const Members<TokensText>& members_of(const TokensText* text);
[[nodiscard]] const Members<VocabularyPiece>& members_of(const VocabularyPiece* piece);
[[nodiscard]] const Members<VocabularyFigures>& members_of(const VocabularyFigures* figures);

}  // namespace qkv
