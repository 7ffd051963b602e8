#include "cluster/routes.h"

#include <algorithm>

namespace qkv::cluster {
namespace {

void widen(KeyRange& range, const KeyRange& by) {
  if (by.begin >= by.end) return;
  range = range.begin >= range.end ? by : KeyRange{std::min(range.begin, by.begin), std::max(range.end, by.end)};
}

void widen(PieceRows& rows, const PieceRows& by) {
  for (std::size_t n = 0; n < rows.size(); ++n) widen(rows[n], by[n]);
}

}  // namespace

std::int64_t count_of(const PieceRows& rows) {
  std::int64_t count = 0;
  for (const KeyRange& range : rows) count += range.end - range.begin;
  return count;
}

Routes::Routes(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys)
    : ranks_(keys.ranks()) {
  for (int source = 0; source < ranks_; ++source) {
    const std::vector<SharePiece>& pieces = keys.pieces(source);
    for (int reader = 0; reader < ranks_; ++reader) {
      PieceRows rows(pieces.size());
      for (const SharePiece& own : queries.pieces(reader)) {
        for (std::size_t n = 0; n < pieces.size(); ++n) widen(rows[n], seen_keys(whole, own, pieces[n]));
      }
      needed_.push_back(std::move(rows));
    }
  }
  coming_ = needed_;
  leaving_ = needed_;
  for (int source = 0; source < ranks_; ++source) {
    for (int n = ranks_ - 2; n >= 1; --n) {
      if (count_of(needed(source, behind(source, n))) == 0) continue;
      if (const std::optional<int> to = next(source, behind(source, n))) {
        widen(coming_[place(source, behind(source, n))], coming(source, *to));
      }
    }
    for (int n = 2; n < ranks_; ++n) {
      if (count_of(needed(source, behind(source, n))) == 0) continue;
      const std::optional<int> from = previous(source, behind(source, n));
      if (from && *from != source) widen(leaving_[place(source, behind(source, n))], leaving(source, *from));
    }
  }
}

Routes Routes::everywhere(const SequenceShares& keys) {
  Routes routes(keys.ranks());
  for (int source = 0; source < keys.ranks(); ++source) {
    PieceRows all;
    for (const SharePiece& piece : keys.pieces(source)) all.push_back({0, piece.count});
    routes.needed_.insert(routes.needed_.end(), static_cast<std::size_t>(keys.ranks()), all);
  }
  routes.coming_ = routes.leaving_ = routes.needed_;
  return routes;
}

std::optional<int> Routes::next(int source, int holder) const {
  for (int n = steps(source, holder) + 1; n < ranks_; ++n) {
    if (count_of(needed(source, behind(source, n))) > 0) return behind(source, n);
  }
  return std::nullopt;
}

std::optional<int> Routes::previous(int source, int holder) const {
  for (int n = steps(source, holder) - 1; n > 0; --n) {
    if (count_of(needed(source, behind(source, n))) > 0) return behind(source, n);
  }
  return holder == source ? std::nullopt : std::optional(source);
}

std::optional<int> Routes::last(int source) const {
  for (int n = ranks_ - 1; n > 0; --n) {
    if (count_of(needed(source, behind(source, n))) > 0) return behind(source, n);
  }
  return std::nullopt;
}

std::vector<int> Routes::sources(int reader) const {
  std::vector<int> all;
  for (int n = 0; n < ranks_; ++n) {
    const int source = (reader - n + ranks_) % ranks_;
    if (count_of(needed(source, reader)) > 0) all.push_back(source);
  }
  return all;
}

}  // namespace qkv::cluster
