#include "text/sentence_piece_model.h"

#include <algorithm>
#include <limits>

#include "text/characters.h"
#include "text/piece_joints.h"
#include "text/unigram_search.h"

namespace qkv::text {
namespace {

using enum SentencePieceType;

// Both of these find a piece as a whole: of a text cut before each "▁", or at each character that user-defined pieces
// leave.
class SentencePieceWords final : public SentencePieceModel {
 public:
  explicit SentencePieceWords(const SentencePieceFile& file) : tree_(tree_of(file, {normal, user_defined})) {}

  void cut(std::string_view text, std::vector<SubwordToken>& tokens) const override {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(kBlankMark, begin + 1), text.size());
      tokens.push_back({.id = tree_.find(text.substr(begin, end - begin)).value_or(kNoPiece),
                        .begin = static_cast<std::uint32_t>(begin),
                        .end = static_cast<std::uint32_t>(end)});
      begin = end;
    }
  }

 private:
  PieceTree tree_;
};

class SentencePieceCharacters final : public SentencePieceModel {
 public:
  explicit SentencePieceCharacters(const SentencePieceFile& file)
      : tree_(tree_of(file, {normal, user_defined})), user_defined_(tree_of(file, {user_defined})) {}

  void cut(std::string_view text, std::vector<SubwordToken>& tokens) const override {
    for (std::size_t begin = 0; begin < text.size();) {
      const auto kept = user_defined_.longest_at(text, begin);
      const std::size_t end = kept ? kept->end : begin + character_length(text[begin]);
      tokens.push_back({.id = tree_.find(text.substr(begin, end - begin)).value_or(kNoPiece),
                        .begin = static_cast<std::uint32_t>(begin),
                        .end = static_cast<std::uint32_t>(end)});
      begin = end;
    }
  }

 private:
  PieceTree tree_;
  PieceTree user_defined_;
};

class SentencePieceUnigram final : public SentencePieceModel {
 public:
  explicit SentencePieceUnigram(const SentencePieceFile& file)
      : search_(tree_of(file, {normal, user_defined}), scores_of(file),
                {.unknown_score = unknown_score(file), .reset_beyond = kResetBeyond}) {
    for (const SentencePiece& piece : file.pieces) {
      if (stands_in_text(piece.type)) joints_.add(piece.text);
    }
  }

  void cut(std::string_view text, std::vector<SubwordToken>& tokens) const override {
    std::vector<Search::Reached> reached;
    float score = 0;  // goes on from part to part, so that it is rounded as that of the whole
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = joints_.end_of_part(text, begin, [](std::size_t) { return false; });
      const std::size_t before = tokens.size();
      score = search_.find(text.substr(begin, end - begin), score, reached, [](std::string_view) { return kNoPiece; });
      Search::trace(reached, tokens, [](std::int32_t, std::int32_t) { return false; });
      for (std::size_t n = before; n < tokens.size(); ++n) {
        tokens[n].begin += static_cast<std::uint32_t>(begin);
        tokens[n].end += static_cast<std::uint32_t>(begin);
      }
      begin = end;
    }
  }

 private:
  using Search = UnigramSearch<float>;
  static constexpr float kResetBeyond = 100000;
  static constexpr float kPenalty = 10;

  // What is user-defined is better than any sum of other pieces, a long piece better than its parts.
  static std::vector<float> scores_of(const SentencePieceFile& file) {
    constexpr double kPerByte = 0.1;
    std::vector<float> scores;
    for (const SentencePiece& piece : file.pieces) {
      const auto length = static_cast<double>(piece.text.size());
      scores.push_back(piece.type == user_defined ? static_cast<float>(kPerByte * (length - 1)) : piece.score);
    }
    return scores;
  }
  static float unknown_score(const SentencePieceFile& file) {
    float lowest = std::numeric_limits<float>::max();
    for (const SentencePiece& piece : file.pieces) {
      if (piece.type == normal) lowest = std::min(lowest, piece.score);
    }
    return lowest - kPenalty;
  }

  Search search_;
  PieceJoints joints_;
};

}  // namespace

PieceTree tree_of(const SentencePieceFile& file, std::initializer_list<SentencePieceType> types) {
  std::vector<PieceTree::Entry> entries;
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const SentencePiece& piece = file.pieces[id];
    if (std::ranges::find(types, piece.type) == types.end()) continue;
    entries.push_back({.piece = piece.text, .id = static_cast<std::int32_t>(id)});
  }
  return PieceTree(std::move(entries));
}

SentencePieceModelPtr sentence_piece_unigram(const SentencePieceFile& file) {
  return std::make_shared<SentencePieceUnigram>(file);
}

SentencePieceModelPtr sentence_piece_model(const SentencePieceFile& file) {
  switch (file.model) {
    case SentencePieceModelType::unigram:
      return sentence_piece_unigram(file);
    case SentencePieceModelType::bpe:
      return sentence_piece_bpe(file);
    case SentencePieceModelType::word:
      return std::make_shared<SentencePieceWords>(file);
    case SentencePieceModelType::character:
      return std::make_shared<SentencePieceCharacters>(file);
  }
  return nullptr;
}

}  // namespace qkv::text
