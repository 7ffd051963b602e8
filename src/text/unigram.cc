// Unigram language model, with the options of the `tokenizers` library.
#include <algorithm>

#include "text/subword_model.h"
#include "text/unigram_search.h"

namespace qkv::text {
namespace {

constexpr double kUnknownPenalty = 10.0;  // below the lowest score, as in SentencePiece

class Unigram final : public SubwordModel {
 public:
  Unigram(PieceTable pieces, UnigramSearch<double> search, std::optional<std::int32_t> unknown, bool byte_fallback)
      : pieces_(std::move(pieces)), search_(std::move(search)), unknown_(unknown), byte_fallback_(byte_fallback) {}

  void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const override {
    std::vector<UnigramSearch<double>::Reached> reached;
    search_.find(piece, 0, reached, [&](std::string_view character) {
      if (!unknown_) fail_unknown("Unigram", character);
      return *unknown_;
    });
    std::vector<SubwordToken> found;
    UnigramSearch<double>::trace(reached, found, [&](std::int32_t first, std::int32_t second) {
      return first == unknown_ && second == unknown_;
    });
    for (const SubwordToken& token : found) add(piece, token, tokens);
  }
  [[nodiscard]] const PieceTable& pieces() const noexcept override { return pieces_; }

 private:
  void add(std::string_view piece, SubwordToken token, std::vector<SubwordToken>& tokens) const {
    if (token.id == unknown_) {
      const std::string_view text = piece.substr(token.begin, token.end - token.begin);
      if (const auto known = pieces_.find(text)) {
        token.id = *known;
      } else if (byte_fallback_ && add_bytes(text, token, tokens)) {
        return;
      }
    }
    tokens.push_back(token);
  }

  bool add_bytes(std::string_view text, SubwordToken token, std::vector<SubwordToken>& tokens) const {
    const std::size_t before = tokens.size();
    for (const char byte : text) {
      const auto id = pieces_.find_byte(static_cast<unsigned char>(byte));
      if (!id) {
        tokens.resize(before);
        return false;
      }
      token.id = *id;
      tokens.push_back(token);
    }
    return true;
  }

  PieceTable pieces_;
  UnigramSearch<double> search_;
  std::optional<std::int32_t> unknown_;
  bool byte_fallback_;
};

UnigramSearch<double> search_of(const PieceTable& pieces, std::vector<double> scores) {
  std::vector<PieceTree::Entry> entries;
  for (std::int32_t id = 0; id < pieces.size(); ++id) {
    const bool is_found = !pieces.piece(id).empty() && pieces.find(pieces.piece(id)) == id;
    if (is_found) entries.push_back({.piece = pieces.piece(id), .id = id});
  }
  const auto lowest = std::ranges::min_element(scores);
  const double unknown = (lowest == scores.end() ? 0 : *lowest) - kUnknownPenalty;
  return {PieceTree(std::move(entries)), std::move(scores), {.unknown_score = unknown}};
}

}  // namespace

SubwordModelPtr read_unigram(const JsonField& field) {
  field.require_only({"type", "unk_id", "vocab", "byte_fallback"});
  PieceTable pieces;
  std::vector<double> scores;
  const JsonField list = field.at("vocab");
  if (!list.is_list()) list.fail("a list");
  for (std::size_t n = 0; n < list.size(); ++n) {
    const JsonValue next = list.element(n);
    const bool is_pair = next.is_list() && next.size() == 2;
    const auto piece = is_pair ? next[0].text() : std::nullopt;
    const auto score = is_pair ? next[1].number() : std::nullopt;
    if (!piece || !score) list.elements().at(n).fail("a piece and its score");
    pieces.set(static_cast<std::int32_t>(n), std::string(*piece));
    scores.push_back(*score);
  }
  std::optional<std::int32_t> unknown;
  if (const auto id = field.find("unk_id")) {
    unknown = static_cast<std::int32_t>(id->whole(0, static_cast<std::int64_t>(scores.size()) - 1));
  }
  const auto byte_fallback = field.find("byte_fallback");
  UnigramSearch<double> search = search_of(pieces, std::move(scores));
  return std::make_shared<Unigram>(std::move(pieces), std::move(search), unknown,
                                   byte_fallback && byte_fallback->boolean());
}

}  // namespace qkv::text
