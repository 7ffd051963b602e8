#include "cluster/windows.h"

#include <algorithm>

#include "mask/batch_entry.h"

namespace qkv::cluster {
namespace {

constexpr int kMostHalvings = 8;

// The rows of a piece that lie at positions begin to end - 1.
KeyRange rows_between(const SharePiece& piece, std::int64_t begin, std::int64_t end) {
  const auto first_from = [&](std::int64_t position) {
    if (position <= piece.first) return std::int64_t{0};
    return std::min((position - piece.first - 1) / piece.step + 1, piece.count);
  };
  return {first_from(begin), first_from(end)};
}

// One document of a ragged batch: its rows of both pieces, and where they lie in its own matrix.
struct DocumentWindow {
  KeyRange queries;
  KeyRange keys;
  MatrixWindow window;
};

DocumentWindow document_window(const Ragged& ragged, std::size_t n, const SharePiece& queries, const SharePiece& keys) {
  const std::int64_t q_begin = ragged.q_offsets[n];
  const std::int64_t q_end = ragged.q_offsets[n + 1];
  const std::int64_t k_begin = ragged.k_offsets[n];
  const std::int64_t k_end = ragged.k_offsets[n + 1];
  const KeyRange q = rows_between(queries, q_begin, q_end);
  const KeyRange k = rows_between(keys, k_begin, k_end);
  MatrixWindow window = {.Tq = q_end - q_begin, .Tk = k_end - k_begin, .step_i = queries.step, .step_j = keys.step};
  if (q.begin < q.end) window.first_i = queries.position(q.begin) - q_begin;
  if (k.begin < k.end) window.first_j = keys.position(k.begin) - k_begin;
  return {.queries = q, .keys = k, .window = window};
}

// Widens a range of keys to all that are seen in a tile.
class SeenKeys {
 public:
  SeenKeys(const Mask& mask, const MaskShape& shape) : mask_(mask), shape_(shape) {
    const std::int64_t B = mask.varies_by_batch() ? shape.B : std::min<std::int64_t>(shape.B, 1);
    const std::int64_t H = mask.varies_by_head() ? shape.H : 1;
    if (shape.Tq == 0 || shape.Tk == 0) return;
    for (std::int64_t b = 0; b < B; ++b) {
      for (std::int64_t h = 0; h < H; ++h) {
        add({.b = b, .h = h, .i_begin = 0, .i_end = shape.Tq, .j_begin = 0, .j_end = shape.Tk}, kMostHalvings);
      }
    }
  }

  [[nodiscard]] const KeyRange& range() const { return range_; }

 private:
  void add(const Tile& tile, int halvings) {
    if (range_.begin <= tile.j_begin && tile.j_end <= range_.end) return;
    const TileClass is = mask_.classify(tile, shape_);
    if (is == TileClass::skip) return;
    const std::int64_t queries = tile.i_end - tile.i_begin;
    const std::int64_t keys = tile.j_end - tile.j_begin;
    if (is == TileClass::full || halvings == 0 || (queries <= kTile && keys <= kTile)) return widen(tile);
    Tile first = tile;
    Tile second = tile;
    if (queries >= keys) {
      first.i_end = second.i_begin = tile.i_begin + queries / 2;
    } else {
      first.j_end = second.j_begin = tile.j_begin + keys / 2;
    }
    add(first, halvings - 1);
    add(second, halvings - 1);
  }

  void widen(const Tile& tile) {
    const KeyRange hull = mask_.hull(tile, shape_);
    const std::int64_t begin = std::max(hull.begin, tile.j_begin);
    const std::int64_t end = std::min(hull.end, tile.j_end);
    if (begin >= end) return;
    range_ = range_.begin == range_.end ? KeyRange{begin, end}
                                        : KeyRange{std::min(range_.begin, begin), std::max(range_.end, end)};
  }

  const Mask& mask_;
  MaskShape shape_;
  KeyRange range_ = {};
};

KeyRange in_tiles(const KeyRange& range, std::int64_t count) {
  if (range.begin >= range.end) return {};
  return {range.begin / kTile * kTile, std::min((range.end + kTile - 1) / kTile * kTile, count)};
}

KeyRange seen_in_documents(const WholeCall& whole, const SharePiece& queries, const SharePiece& keys) {
  const Ragged& ragged = *whole.options.ragged;
  const std::size_t documents = ragged.q_offsets.size() - 1;
  KeyRange all;
  for (std::size_t n = 0; n < documents; ++n) {
    const auto [q, k, window] = document_window(ragged, n, queries, keys);
    if (q.begin >= q.end || k.begin >= k.end) continue;
    const Mask mask =
        batch_entry(whole.options.mask, static_cast<std::int64_t>(n), static_cast<std::int64_t>(documents));
    const MaskShape shape = {.B = 1, .H = whole.shape.H, .Tq = q.end - q.begin, .Tk = k.end - k.begin};
    const KeyRange own = SeenKeys(within(mask, window), shape).range();
    if (own.begin >= own.end) continue;
    const KeyRange moved = {k.begin + own.begin, k.begin + own.end};
    all = all.begin == all.end ? moved : KeyRange{std::min(all.begin, moved.begin), std::max(all.end, moved.end)};
  }
  return all;
}

}  // namespace

MatrixWindow window_of(std::int64_t Tq, std::int64_t Tk, const SharePiece& queries, const SharePiece& keys) {
  return {
      .Tq = Tq, .Tk = Tk, .first_i = queries.first, .step_i = queries.step, .first_j = keys.first, .step_j = keys.step};
}

SharePiece part_of(const SharePiece& piece, const KeyRange& rows) {
  return {.first = piece.position(rows.begin), .step = piece.step, .count = rows.end - rows.begin};
}

AttentionOptions options_of(const WholeCall& whole, const SharePiece& queries, const SharePiece& keys) {
  AttentionOptions options = whole.options;
  options.sinks = {};
  options.within.clear();
  if (!options.ragged) {
    options.within.push_back(window_of(whole.shape.Tq, whole.shape.Tk, queries, keys));
    return options;
  }
  Ragged own = {.q_offsets = {0}, .k_offsets = {0}};
  for (std::size_t n = 0; n + 1 < whole.options.ragged->q_offsets.size(); ++n) {
    const DocumentWindow document = document_window(*whole.options.ragged, n, queries, keys);
    own.q_offsets.push_back(document.queries.end);
    own.k_offsets.push_back(document.keys.end);
    options.within.push_back(document.window);
  }
  options.ragged = std::move(own);
  return options;
}

KeyRange seen_keys(const WholeCall& whole, const SharePiece& queries, const SharePiece& keys) {
  if (queries.count == 0 || keys.count == 0 || whole.shape.B == 0) return {};
  if (whole.options.ragged) return in_tiles(seen_in_documents(whole, queries, keys), keys.count);
  const Mask mask = within(whole.options.mask, window_of(whole.shape.Tq, whole.shape.Tk, queries, keys));
  const MaskShape shape = {.B = whole.shape.B, .H = whole.shape.H, .Tq = queries.count, .Tk = keys.count};
  return in_tiles(SeenKeys(mask, shape).range(), keys.count);
}

}  // namespace qkv::cluster
