// The pieces whose scores have the highest sum (Kudo 2018), found from left to right (Viterbi).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "text/characters.h"
#include "text/piece_tree.h"
#include "text/subword_model.h"

namespace qkv::text {

/// SentencePiece sums in float, `tokenizers` in double: of ways that are nearly as good, each takes its own.
template <class Real>
class UnigramSearch {
 public:
  struct Options {
    Real unknown_score = 0;
    Real reset_beyond = std::numeric_limits<Real>::infinity();  // sums that are larger start anew from 0
  };

  /// `scores` by id.
  UnigramSearch(PieceTree tree, std::vector<Real> scores, Options options)
      : tree_(std::move(tree)), scores_(std::move(scores)), options_(options) {}

  /// The best way to a place in a text.
  struct Reached {
    Real score = 0;
    std::uint32_t begin = 0;  // of the last piece
    std::int32_t id = 0;
    bool is_reached = false;
  };

  /// Fills `reached` for every place of valid UTF-8, `score` being that of what lies before it; returns the score at
  /// the end. `unknown(character)` is the id of a character that is no piece.
  template <class Unknown>
  Real find(std::string_view text, Real score, std::vector<Reached>& reached, const Unknown& unknown) const {
    reached.assign(text.size() + 1, {});
    reached[0].score = score;
    for (std::size_t begin = 0; begin < text.size();) {
      if (std::abs(reached[begin].score) > options_.reset_beyond) reset(reached, begin);
      begin = visit(text, begin, reached, unknown);
    }
    return reached[text.size()].score;
  }

  /// Appends the tokens of the best way. Neighbours for which `joins(first id, second id)` become one.
  template <class Joins>
  static void trace(const std::vector<Reached>& reached, std::vector<SubwordToken>& tokens, const Joins& joins) {
    const std::size_t before = tokens.size();
    for (auto end = static_cast<std::uint32_t>(reached.size() - 1); end > 0;) {
      const std::int32_t id = reached[end].id;
      std::uint32_t begin = reached[end].begin;
      while (begin > 0 && joins(reached[begin].id, id)) begin = reached[begin].begin;
      tokens.push_back({.id = id, .begin = begin, .end = end});
      end = begin;
    }
    std::reverse(tokens.begin() + static_cast<std::ptrdiff_t>(before), tokens.end());
  }

 private:
  template <class Unknown>
  std::size_t visit(std::string_view text, std::size_t begin, std::vector<Reached>& reached,
                    const Unknown& unknown) const {
    const Real score = reached[begin].score;
    const std::size_t end_of_character = begin + character_length(text[begin]);
    bool has_character = false;
    tree_.for_each_at(text, begin, [&](std::size_t end, std::int32_t id) {
      offer(reached[end], scores_[static_cast<std::size_t>(id)] + score, begin, id);
      has_character = has_character || end == end_of_character;
    });
    if (!has_character) {
      const std::int32_t id = unknown(text.substr(begin, end_of_character - begin));
      offer(reached[end_of_character], options_.unknown_score + score, begin, id);
    }
    return end_of_character;
  }
  static void offer(Reached& place, Real score, std::size_t begin, std::int32_t id) noexcept {
    if (place.is_reached && score <= place.score) return;
    place = {.score = score, .begin = static_cast<std::uint32_t>(begin), .id = id, .is_reached = true};
  }
  static void reset(std::vector<Reached>& reached, std::size_t begin) noexcept {
    const Real gone = reached[begin].score;
    reached[begin].score = 0;
    for (std::size_t at = begin + 1; at < reached.size(); ++at) {
      if (reached[at].is_reached) reached[at].score -= gone;
    }
  }

  PieceTree tree_;
  std::vector<Real> scores_;
  Options options_;
};

}  // namespace qkv::text
