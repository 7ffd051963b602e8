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

int rank_after(int rank, std::size_t steps, std::size_t ranks, Turn turn) {
  const std::size_t forward = turn == Turn::behind ? steps : ranks - steps;
  return static_cast<int>((static_cast<std::size_t>(rank) + forward) % ranks);
}

Turn shorter_turn(std::int64_t rows_behind, std::int64_t rows_before) {
  return rows_before < rows_behind ? Turn::before : Turn::behind;
}

std::vector<PieceRows> needed_rows(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys,
                                   int source) {
  const std::vector<SharePiece>& pieces = keys.pieces(source);
  std::vector<PieceRows> needed;
  for (int reader = 0; reader < queries.ranks(); ++reader) {
    PieceRows rows(pieces.size());
    for (const SharePiece& own : queries.pieces(reader)) {
      for (std::size_t n = 0; n < pieces.size(); ++n) widen(rows[n], seen_keys(whole, own, pieces[n]));
    }
    needed.push_back(std::move(rows));
  }
  return needed;
}

Route::Route(int source, const std::vector<PieceRows>& needed, Turn turn)
    : source_(source), ranks_(needed.size()), turn_(turn) {
  for (std::size_t n = 0; n < ranks_; ++n) needed_.push_back(needed[static_cast<std::size_t>(after(n))]);
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

std::int64_t Route::rows() const {
  std::int64_t rows = 0;
  for (std::size_t n = 1; n < ranks_; ++n) rows += is_needed(n) ? count_of(coming_[n]) : 0;
  return rows;
}

std::optional<int> Route::next(int holder) const {
  for (std::size_t n = steps(holder) + 1; n < ranks_; ++n) {
    if (is_needed(n)) return after(n);
  }
  return std::nullopt;
}

std::optional<int> Route::previous(int holder) const {
  if (holder == source_) return std::nullopt;
  for (std::size_t n = steps(holder) - 1; n > 0; --n) {
    if (is_needed(n)) return after(n);
  }
  return source_;
}

std::optional<int> Route::last() const {
  for (std::size_t n = ranks_ - 1; n > 0; --n) {
    if (is_needed(n)) return after(n);
  }
  return std::nullopt;
}

Routes::Routes(const WholeCall& whole, const SequenceShares& queries, const SequenceShares& keys) {
  std::vector<Route> before;
  std::int64_t rows_behind = 0;
  std::int64_t rows_before = 0;
  for (int source = 0; source < keys.ranks(); ++source) {
    const std::vector<PieceRows> needed = needed_rows(whole, queries, keys, source);
    rows_behind += routes_.emplace_back(source, needed, Turn::behind).rows();
    rows_before += before.emplace_back(source, needed, Turn::before).rows();
  }
  turn_ = shorter_turn(rows_behind, rows_before);
  if (turn_ == Turn::before) routes_ = std::move(before);
}

Routes Routes::everywhere(const SequenceShares& keys) {
  const auto ranks = static_cast<std::size_t>(keys.ranks());
  Routes routes;
  for (int source = 0; source < keys.ranks(); ++source) {
    PieceRows all;
    for (const SharePiece& piece : keys.pieces(source)) all.push_back({0, piece.count});
    routes.routes_.emplace_back(source, std::vector(ranks, all), Turn::behind);
  }
  return routes;
}

std::vector<int> Routes::sources(int reader) const {
  const std::size_t ranks = routes_.size();
  const Turn back = turn_ == Turn::behind ? Turn::before : Turn::behind;
  std::vector<int> all;
  for (std::size_t n = 0; n < ranks; ++n) {
    const int source = rank_after(reader, n, ranks, back);
    if (count_of(needed(source, reader)) > 0) all.push_back(source);
  }
  return all;
}

}  // namespace qkv::cluster
