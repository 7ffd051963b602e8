// Unigram language model: the pieces whose scores have the highest sum (Kudo 2018), found from left to right (Viterbi).
#include <algorithm>
#include <limits>

#include "text/characters.h"
#include "text/subword_model.h"

namespace qkv::text {
namespace {

constexpr double kUnknownPenalty = 10.0;  // below the lowest score, as in SentencePiece

// The pieces as a tree of bytes.
class PieceTree {
 public:
  void add(std::string_view piece, std::int32_t id) {
    std::uint64_t node = 0;
    for (const char byte : piece) {
      const std::uint64_t key = key_of(node, byte);
      if (const std::uint64_t* next = children_.find(key)) {
        node = *next;
        continue;
      }
      children_.set(key, ends_.size());
      node = ends_.size();
      ends_.push_back(kNoPiece);
    }
    ends_[node] = id;
  }

  /// Calls `visit(end, id)` for each piece that lies at `begin`, the shortest first.
  template <class Visit>
  void for_each_at(std::string_view text, std::size_t begin, const Visit& visit) const {
    std::uint64_t node = 0;
    for (std::size_t at = begin; at < text.size(); ++at) {
      const std::uint64_t* next = children_.find(key_of(node, text[at]));
      if (next == nullptr) return;
      node = *next;
      if (ends_[node] != kNoPiece) visit(at + 1, ends_[node]);
    }
  }

 private:
  static constexpr std::int32_t kNoPiece = -1;
  static std::uint64_t key_of(std::uint64_t node, char byte) noexcept {
    constexpr unsigned kByte = 8;
    return node << kByte | static_cast<unsigned char>(byte);
  }
  NumberTable children_;
  std::vector<std::int32_t> ends_ = {kNoPiece};  // of each node: the piece that ends there
};

// The best way to a place in a text.
struct Reached {
  double score = 0;
  std::size_t begin = 0;  // of the last piece
  std::int32_t id = 0;
  bool is_reached = false;

  void offer(double other, std::size_t from, std::int32_t by) noexcept {
    if (!is_reached || other > score) *this = {.score = other, .begin = from, .id = by, .is_reached = true};
  }
};

class Unigram final : public SubwordModel {
 public:
  Unigram(PieceTable pieces, std::vector<double> scores, std::optional<std::int32_t> unknown, bool byte_fallback)
      : pieces_(std::move(pieces)), scores_(std::move(scores)), unknown_(unknown), byte_fallback_(byte_fallback) {
    for (std::int32_t id = 0; id < pieces_.size(); ++id) {
      if (!pieces_.piece(id).empty()) tree_.add(pieces_.piece(id), *pieces_.find(pieces_.piece(id)));
    }
    const auto lowest = std::ranges::min_element(scores_);
    unknown_score_ = (lowest == scores_.end() ? 0 : *lowest) - kUnknownPenalty;
  }

  void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const override {
    const std::vector<Reached> reached = best_ways(piece);
    const std::size_t before = tokens.size();
    for (std::size_t end = piece.size(); end > 0;) {
      std::size_t begin = reached[end].begin;
      const std::int32_t id = reached[end].id;
      while (id == unknown_ && begin > 0 && reached[begin].id == unknown_) begin = reached[begin].begin;
      add(piece, begin, end, id, tokens);
      end = begin;
    }
    std::reverse(tokens.begin() + static_cast<std::ptrdiff_t>(before), tokens.end());
  }
  [[nodiscard]] const PieceTable& pieces() const noexcept override { return pieces_; }

 private:
  [[nodiscard]] std::vector<Reached> best_ways(std::string_view piece) const {
    std::vector<Reached> reached(piece.size() + 1);
    for (std::size_t begin = 0; begin < piece.size();) {
      const double score = reached[begin].score;
      const std::size_t end_of_character = begin + character_length(piece[begin]);
      bool has_character = false;
      tree_.for_each_at(piece, begin, [&](std::size_t end, std::int32_t id) {
        reached[end].offer(score + scores_[static_cast<std::size_t>(id)], begin, id);
        has_character = has_character || end == end_of_character;
      });
      if (!has_character) {
        if (!unknown_) fail_unknown("Unigram", piece.substr(begin, end_of_character - begin));
        reached[end_of_character].offer(score + unknown_score_, begin, *unknown_);
      }
      begin = end_of_character;
    }
    return reached;
  }

  // Appends tokens last first.
  void add(std::string_view piece, std::size_t begin, std::size_t end, std::int32_t id,
           std::vector<SubwordToken>& tokens) const {
    SubwordToken token{.id = id, .begin = static_cast<std::uint32_t>(begin), .end = static_cast<std::uint32_t>(end)};
    if (id == unknown_) {
      const std::string_view text = piece.substr(begin, end - begin);
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
    for (std::size_t n = text.size(); n-- > 0;) {
      const auto id = pieces_.find_byte(static_cast<unsigned char>(text[n]));
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
  std::vector<double> scores_;
  PieceTree tree_;
  std::optional<std::int32_t> unknown_;
  double unknown_score_ = 0;
  bool byte_fallback_;
};

}  // namespace

SubwordModelPtr read_unigram(const JsonField& field) {
  field.require_only({"type", "unk_id", "vocab", "byte_fallback"});
  PieceTable pieces;
  std::vector<double> scores;
  const JsonField list = field.at("vocab");
  if (!list.value().is_array()) list.fail("a list");
  for (const Json& next : list.value()) {
    const bool sound = next.is_array() && next.size() == 2 && next[0].is_string() && next[1].is_number();
    if (!sound) list.elements().at(scores.size()).fail("a piece and its score");
    pieces.set(static_cast<std::int32_t>(scores.size()), next[0].get<std::string>());
    scores.push_back(next[1].get<double>());
  }
  std::optional<std::int32_t> unknown;
  if (const auto id = field.find("unk_id")) {
    unknown = static_cast<std::int32_t>(id->whole(0, static_cast<std::int64_t>(scores.size()) - 1));
  }
  const auto byte_fallback = field.find("byte_fallback");
  return std::make_shared<Unigram>(std::move(pieces), std::move(scores), unknown,
                                   byte_fallback && byte_fallback->boolean());
}

}  // namespace qkv::text
