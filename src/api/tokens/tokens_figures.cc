#include <array>

#include "qkv/api/tokens.h"

namespace qkv {
namespace {

constexpr std::array<const char*, 3> kTokenSources = {"text", "pair", "added"};

}  // namespace

TokensFigures tokens_figures(const Encoding& encoding, const Tokenizer& tokenizer) {
  TokensFigures figures;
  figures.ids = encoding.ids;
  figures.types = encoding.types;
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    const TextRange& range = encoding.offsets[n];
    figures.pieces.push_back(tokenizer.piece(encoding.ids[n]));
    figures.offsets.push_back({static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)});
    figures.sources.emplace_back(kTokenSources[static_cast<std::size_t>(encoding.sources[n])]);
  }
  return figures;
}

TokensFigures tokens_figures(const ChatTokens& chat, std::span<const ChatMessage> messages,
                             const Tokenizer& tokenizer) {
  TokensFigures figures;
  figures.ids = chat.ids;
  figures.types.assign(chat.ids.size(), 0);
  figures.rendered = chat.rendered.text;
  for (std::size_t n = 0; n < chat.ids.size(); ++n) {
    const TextRange& range = chat.offsets[n];
    figures.pieces.push_back(tokenizer.piece(chat.ids[n]));
    figures.offsets.push_back({static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)});
    figures.sources.push_back(source_in(chat, messages, n));
  }
  return figures;
}

Members<TokensFigures> describe(const TokensFigures* /*type*/) {
  using F = TokensFigures;
  return Members<F>("TokensFigures")
      .add(&F::ids, "ids", "The tokens' numbers")
      .add(&F::offsets, "offsets", "Begin and end of each, in bytes of its source, or of `rendered`")
      .add(&F::pieces, "pieces", "Of the vocabulary")
      .add(&F::sources, "sources",
           "Where each is from: text, pair or added; in a conversation template, or "
           "its message's role (user, assistant, …)")
      .add_if_there(&F::rendered, "rendered", "Of a conversation: what the template makes of it")
      .add(&F::types, "types", "Which segment each is of, as the template says")
      .add_cautions();
}

Members<TokensText> describe(const TokensText* /*type*/) {
  return Members<TokensText>("TokensText").add(&TokensText::text, "text", "That the tokens stand for").add_cautions();
}

Members<VocabularyPiece> describe(const VocabularyPiece* /*type*/) {
  return Members<VocabularyPiece>("VocabularyPiece")
      .add(&VocabularyPiece::id, "id", "Its number")
      .add(&VocabularyPiece::piece, "piece", "As the vocabulary has it");
}

Members<VocabularyFigures> describe(const VocabularyFigures* /*type*/) {
  return Members<VocabularyFigures>("VocabularyFigures")
      .add(&VocabularyFigures::pieces, "pieces", "All, or those that hold a text")
      .add(&VocabularyFigures::size, "size", "Of the whole vocabulary")
      .add_cautions();
}

}  // namespace qkv
