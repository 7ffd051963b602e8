// A text as tokens, tokens as a text, and a vocabulary: `qkv tokens`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/api/texts.h"
#include "qkv/model/chat.h"
#include "qkv/text/tokenizer.h"

namespace qkv {

/// Asks for the tokens of a text or of a file's texts, for the text of ids, or for pieces of the vocabulary.
struct TokensRequest {
  std::string tokenizer;  // a model of the box, a model file, a folder, or one of its files
  std::optional<std::string> text, pair;
  FileOfTexts file;
  std::optional<std::string> ids, search;
  bool list = false;
  bool source = false;
  bool no_specials = false;
  ChatRequest talk;  // whose message the text is

  [[nodiscard]] SpecialTokens special() const { return no_specials ? SpecialTokens::without : SpecialTokens::with; }
};

[[nodiscard]] const Fields<TokensRequest>& tokens_fields();

/// The tokens of a text, or of a pair of texts.
struct TokensFigures {
  std::vector<std::int32_t> ids;
  std::vector<std::vector<std::int64_t>> offsets;  // begin and end
  std::vector<std::string> pieces, sources;
  std::vector<std::int32_t> types;
  std::optional<std::string> rendered;  // of a conversation
  std::vector<std::string> cautions;
};

/// The text of ids.
struct TokensText {
  std::string text;
  std::vector<std::string> cautions;
};

struct VocabularyPiece {
  std::int64_t id = 0;
  std::string piece;
};

/// All pieces of a vocabulary, or those that hold `search`.
struct VocabularyFigures {
  std::vector<VocabularyPiece> pieces;
  std::int64_t size = 0;
  std::vector<std::string> cautions;
};

/// The answer to a TokensRequest: for a text, a file, ids, and the vocabulary. A piece is found by `search` as it
/// stands in the vocabulary and as people read it.
using TokensFound = std::variant<TokensFigures, std::vector<TokensFigures>, TokensText, VocabularyFigures>;

/// Says which words of the tokenizer's files are not heeded. Throws InvalidArgument naming the field, and Error for
/// files that cannot be read.
[[nodiscard]] TokensFound found_tokens(const TokensRequest& request, const Saying& saying = {});
[[nodiscard]] AnyReply answer(const TokensRequest& request, const Saying& saying = {});

/// For people. A token has its number, id, piece, bytes and part of the text.
[[nodiscard]] std::string as_text(const TokensRequest& request, const TokensFound& found);

[[nodiscard]] TokensFigures tokens_figures(const Encoding& encoding, const Tokenizer& tokenizer);

[[nodiscard]] TokensFigures tokens_figures(const ChatTokens& chat, std::span<const ChatMessage> messages,
                                           const Tokenizer& tokenizer);

[[nodiscard]] Members<TokensFigures> describe(const TokensFigures* figures);
[[nodiscard]] Members<TokensText> describe(const TokensText* text);
[[nodiscard]] Members<VocabularyPiece> describe(const VocabularyPiece* piece);
[[nodiscard]] Members<VocabularyFigures> describe(const VocabularyFigures* figures);

}  // namespace qkv
