// SentencePiece's BPE: any two neighbours that make a piece are merged, the piece of the highest score first.
#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "text/bpe_merges.h"
#include "text/characters.h"
#include "text/piece_joints.h"
#include "text/sentence_piece_model.h"
#include "text/word_cache.h"

namespace qkv::text {
namespace {

using Type = SentencePieceType;

// User-defined pieces are found first and never merged, so no other symbol has the text of one.
bool is_merged(const SentencePiece& piece) noexcept { return piece.type == Type::normal || piece.type == Type::unused; }

// Numbers for pieces that are merged, and behind them for the characters in them that are no pieces.
std::vector<PieceTree::Entry> symbols_in(const SentencePieceFile& file) {
  std::map<std::string_view, std::int32_t> ids;
  for (const SentencePiece& piece : file.pieces) {
    const std::string_view text = piece.text;
    if (!is_merged(piece)) continue;
    for (std::size_t at = 0; at < text.size(); at += character_length(text[at])) {
      ids.emplace(text.substr(at, character_length(text[at])), kNoPiece);
    }
  }
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const SentencePiece& piece = file.pieces[id];
    if (is_merged(piece)) ids[piece.text] = static_cast<std::int32_t>(id);
  }
  auto next = static_cast<std::int32_t>(file.pieces.size());
  std::vector<PieceTree::Entry> entries;
  for (const auto& [text, id] : ids) entries.push_back({.piece = text, .id = id == kNoPiece ? next++ : id});
  return entries;
}

// The rank of each piece: 0 of those with the highest score, equal for equal scores.
std::vector<std::uint32_t> ranks_of(const SentencePieceFile& file) {
  std::vector<float> scores;
  for (const SentencePiece& piece : file.pieces) scores.push_back(piece.score);
  std::ranges::sort(scores, std::greater<>());
  const auto repeated = std::ranges::unique(scores);
  scores.erase(repeated.begin(), repeated.end());
  std::vector<std::uint32_t> ranks;
  for (const SentencePiece& piece : file.pieces) {
    const auto place = std::ranges::lower_bound(scores, piece.score, std::greater<>());
    ranks.push_back(static_cast<std::uint32_t>(place - scores.begin()));
  }
  return ranks;
}

class SentencePieceBpe final : public SentencePieceModel {
 public:
  explicit SentencePieceBpe(const SentencePieceFile& file) : user_defined_(tree_of(file, {Type::user_defined})) {
    std::vector<PieceTree::Entry> symbols = symbols_in(file);
    lengths_.resize(file.pieces.size() + symbols.size());
    for (const PieceTree::Entry& symbol : symbols) {
      lengths_[static_cast<std::size_t>(symbol.id)] = static_cast<std::uint32_t>(symbol.piece.size());
    }
    symbols_ = PieceTree(std::move(symbols));
    const std::vector<std::uint32_t> ranks = ranks_of(file);
    for (std::size_t id = 0; id < file.pieces.size(); ++id) {
      const SentencePiece& piece = file.pieces[id];
      is_unused_.push_back(piece.type == Type::unused);
      if (!is_merged(piece)) continue;
      joints_.add(piece.text);
      const int count = add_merges(piece.text, ranks[id], static_cast<std::int32_t>(id));
      is_cut_whole_ = is_cut_whole_ || (piece.type == Type::unused && count > 1);
    }
  }

  // A merge makes a piece, so it never joins two characters that no piece holds side by side; the merges on the two
  // sides of such a joint, or of a user-defined piece, know nothing of each other. But if an unused piece can be made
  // in several ways, it falls apart as it was last met anywhere in the text.
  void cut(std::string_view text, std::vector<SubwordToken>& tokens) const override {
    if (is_cut_whole_) return cut_part(text, tokens);
    const BorrowedCache cache(caches_);
    const auto cut = [this](std::string_view part, std::vector<SubwordToken>& made) { cut_part(part, made); };
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = end_of_part(text, begin);
      const auto from = static_cast<std::uint32_t>(begin);
      for (const SubwordToken& token : (*cache).tokens_of(text.substr(begin, end - begin), cut)) {
        tokens.push_back({.id = token.id, .begin = from + token.begin, .end = from + token.end});
      }
      begin = end;
    }
  }

 private:
  // Of each unused piece that was met, the two symbols that it was made of.
  using Splits = std::unordered_map<std::int32_t, std::pair<std::int32_t, std::int32_t>>;

  int add_merges(std::string_view text, std::uint32_t rank, std::int32_t id) {
    int count = 0;
    symbols_.for_each_at(text, 0, [&](std::size_t end, std::int32_t first) {
      const auto second = end < text.size() ? symbols_.find(text.substr(end)) : std::nullopt;
      if (!second) return;
      merges_.set(first, *second, rank, id);
      ++count;
    });
    return count;
  }

  [[nodiscard]] std::size_t end_of_part(std::string_view text, std::size_t begin) const {
    if (const auto kept = user_defined_.longest_at(text, begin)) return kept->end;
    return joints_.end_of_part(text, begin,
                               [&](std::size_t at) { return user_defined_.longest_at(text, at).has_value(); });
  }

  void cut_part(std::string_view text, std::vector<SubwordToken>& tokens) const {
    std::vector<Symbol> symbols = symbols_of(text);
    Splits splits;
    merges_.apply(symbols, [&](std::int32_t first, std::int32_t second, std::int32_t both) {
      if (is_unused_[static_cast<std::size_t>(both)]) splits[both] = {first, second};
    });
    std::uint32_t begin = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.length == 0) continue;
      add(symbol, begin, splits, tokens);
      begin += symbol.length;
    }
  }

  [[nodiscard]] std::vector<Symbol> symbols_of(std::string_view text) const {
    std::vector<Symbol> symbols;
    symbols.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      Symbol symbol;
      if (const auto kept = user_defined_.longest_at(text, at)) {
        symbol = {.id = kept->id, .length = static_cast<std::uint32_t>(kept->end - at)};
      } else {
        symbol.length = character_length(text[at]);
        symbol.id = symbols_.find(text.substr(at, symbol.length)).value_or(kNoPiece);
      }
      symbols.push_back(symbol);
      at += symbol.length;
    }
    return symbols;
  }

  void add(const Symbol& symbol, std::uint32_t begin, const Splits& splits, std::vector<SubwordToken>& tokens) const {
    const auto emit = [&](std::int32_t id, std::uint32_t length) {
      tokens.push_back({.id = id, .begin = begin, .end = begin + length});
      begin += length;
    };
    const auto falls_apart = [&](std::int32_t id) { return is_piece(id) && is_unused_[static_cast<std::size_t>(id)]; };
    if (!falls_apart(symbol.id)) return emit(is_piece(symbol.id) ? symbol.id : kNoPiece, symbol.length);
    constexpr int kDeepest = 100;
    struct Part {
      std::int32_t id = 0;
      int depth = 0;
    };
    std::vector<Part> open = {{.id = symbol.id}};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      const auto split = splits.find(part.id);
      const bool is_shown = part.depth > kDeepest || !falls_apart(part.id);
      if (is_shown || split == splits.end()) {
        emit(is_shown && is_piece(part.id) ? part.id : kNoPiece, lengths_[static_cast<std::size_t>(part.id)]);
        continue;
      }
      const auto [first, second] = split->second;
      open.push_back({.id = second, .depth = part.depth + 1});
      open.push_back({.id = first, .depth = part.depth + 1});
    }
  }

  [[nodiscard]] bool is_piece(std::int32_t id) const noexcept {
    return id != kNoPiece && static_cast<std::size_t>(id) < is_unused_.size();
  }

  PieceTree symbols_;
  PieceTree user_defined_;
  BpeMerges merges_;
  PieceJoints joints_;
  std::vector<std::uint32_t> lengths_;  // bytes of each symbol
  std::vector<bool> is_unused_;
  bool is_cut_whole_ = false;
  mutable WordCachePool caches_;
};

}  // namespace

SentencePieceModelPtr sentence_piece_bpe(const SentencePieceFile& file) {
  return std::make_shared<SentencePieceBpe>(file);
}

}  // namespace qkv::text
