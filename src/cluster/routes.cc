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

Route::Route(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys, int source)
    : Route(source, static_cast<std::size_t>(keys.ranks())) {
  const std::vector<SharePiece>& pieces = keys.pieces(source);
  for (std::size_t n = 0; n < ranks_; ++n) {
    PieceRows rows(pieces.size());
    for (const SharePiece& own : queries.pieces(behind(n))) {
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        widen(rows[piece], seen_keys(whole, own, pieces[piece]));
      }
    }
    needed_.push_back(std::move(rows));
  }
  coming_ = needed_;
  leaving_ = needed_;
  std::optional<std::size_t> later;
  for (std::size_t n = ranks_ - 1; n >= 1; --n) {
    if (!is_needed(n)) continue;
    if (later) widen(coming_[n], coming_[*later]);
    later = n;
  }
  std::optional<std::size_t> earlier;
  for (std::size_t n = 1; n < ranks_; ++n) {
    if (!is_needed(n)) continue;
    if (earlier) widen(leaving_[n], leaving_[*earlier]);
    earlier = n;
  }
}

Route Route::everywhere(const SequenceShares& keys, int source) {
  Route route(source, static_cast<std::size_t>(keys.ranks()));
  PieceRows all;
  for (const SharePiece& piece : keys.pieces(source)) all.push_back({0, piece.count});
  route.needed_.assign(route.ranks_, all);
  route.coming_ = route.leaving_ = route.needed_;
  return route;
}

std::optional<int> Route::next(int holder) const {
  for (std::size_t n = steps(holder) + 1; n < ranks_; ++n) {
    if (is_needed(n)) return behind(n);
  }
  return std::nullopt;
}

std::optional<int> Route::previous(int holder) const {
  if (holder == source_) return std::nullopt;
  for (std::size_t n = steps(holder) - 1; n > 0; --n) {
    if (is_needed(n)) return behind(n);
  }
  return source_;
}

std::optional<int> Route::last() const {
  for (std::size_t n = ranks_ - 1; n > 0; --n) {
    if (is_needed(n)) return behind(n);
  }
  return std::nullopt;
}

Routes::Routes(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys) {
  for (int source = 0; source < keys.ranks(); ++source) routes_.emplace_back(whole, queries, keys, source);
}

Routes Routes::everywhere(const SequenceShares& keys) {
  Routes routes;
  for (int source = 0; source < keys.ranks(); ++source) routes.routes_.push_back(Route::everywhere(keys, source));
  return routes;
}

std::vector<int> Routes::sources(int reader) const {
  const auto ranks = static_cast<int>(routes_.size());
  std::vector<int> all;
  for (int n = 0; n < ranks; ++n) {
    const int source = (reader - n + ranks) % ranks;
    if (count_of(needed(source, reader)) > 0) all.push_back(source);
  }
  return all;
}

}  // namespace qkv::cluster
