// Sums of tiles in the cells of a map.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "probe/probe_state.h"

namespace qkv::probe_detail {

/// The bounds of `count` cells over `extent` rows or columns from `first` on.
struct Cells {
  std::int64_t count = 0;
  std::int64_t first = 0;
  std::int64_t extent = 0;

  [[nodiscard]] std::int64_t begin(std::int64_t cell) const { return first + cell * extent / count; }
  [[nodiscard]] std::int64_t size(std::int64_t cell) const { return begin(cell + 1) - begin(cell); }
  [[nodiscard]] std::int64_t of(std::int64_t place) const { return ((place - first + 1) * count - 1) / extent; }
};

/// Maps under construction. A task owns whole rows of cells of one map, so that no two tasks add to one cell.
struct CellSums {
  /// Throws InvalidArgument naming `function` and what of the request lies out of range.
  CellSums(std::string_view function, const MaskShape& shape, const MapRequest& request);

  /// The queries of each task of a map.
  [[nodiscard]] std::vector<BlockRange> tasks() const;
  [[nodiscard]] BlockRange queries() const { return {rows.first, rows.first + rows.extent}; }
  [[nodiscard]] KeyRange keys() const { return {columns.first, columns.first + columns.extent}; }
  /// The cost of a pass over all heads by these tasks, in pairs.
  [[nodiscard]] std::int64_t pairs(const kernels::Problem& problem) const;
  /// Turns sums into means.
  [[nodiscard]] CellMaps finished();

  std::int64_t b;
  std::vector<std::vector<std::int64_t>> groups;  // the heads whose mean each map is of
  Cells rows;
  Cells columns;
  CellMaps maps;
};

template <class Real>
using Lanes = std::array<Real, kernels::kTile>;

/// Adds tiles, whose lanes are queries, to the cells of a map.
template <class Real>
class TileSink {
 public:
  TileSink(CellSums& sums, std::int64_t map, const BlockRange& queries)
      : columns_(sums.columns), queries_(queries.end - queries.begin) {
    const auto offset = static_cast<std::size_t>(map * sums.rows.count * columns_.count);
    mean_ = sums.maps.mean.values<double>().subspan(offset);
    largest_ = sums.maps.largest.values<double>().subspan(offset);
    visible_ = sums.maps.visible.values<double>().subspan(offset);
    for (std::int64_t n = 0; n < queries_; ++n) {
      first_cell_[static_cast<std::size_t>(n)] = sums.rows.of(queries.begin + n) * columns_.count;
    }
  }

  void add(const KeyRange& keys, const kernels::ScoreTile<Real>& values, const kernels::ScoreTile<Real>& visible) {
    constexpr auto kSum = [](auto a, auto b) { return a + b; };
    constexpr auto kLarger = [](auto a, auto b) { return larger(a, b); };
    for (std::int64_t j = keys.begin; j < keys.end;) {
      const std::int64_t column = columns_.of(j);
      const std::int64_t end = std::min(keys.end, columns_.begin(column + 1));
      const KeyRange within = {j - keys.begin, end - keys.begin};
      put(column, folded(values, within, kSum), mean_, kSum);
      put(column, folded(values, within, kLarger), largest_, kLarger);
      put(column, folded(visible, within, kSum), visible_, kSum);
      j = end;
    }
  }

 private:
  template <class Fold>
  static Lanes<Real> folded(const kernels::ScoreTile<Real>& tile, const KeyRange& keys, const Fold& fold) {
    Lanes<Real> lanes{};
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const Real* row = tile.data() + c * kernels::kTile;
      for (std::size_t n = 0; n < kernels::kTile; ++n) lanes[n] = fold(lanes[n], row[n]);
    }
    return lanes;
  }

  template <class Fold>
  void put(std::int64_t column, const Lanes<Real>& lanes, std::span<double> cells, const Fold& fold) {
    for (std::int64_t n = 0; n < queries_; ++n) {
      const auto lane = static_cast<std::size_t>(n);
      double& cell = cells[static_cast<std::size_t>(first_cell_[lane] + column)];
      cell = fold(cell, static_cast<double>(lanes[lane]));
    }
  }

  const Cells& columns_;
  std::int64_t queries_;
  std::span<double> mean_;
  std::span<double> largest_;
  std::span<double> visible_;
  std::array<std::int64_t, kernels::kTile> first_cell_{};  // of each lane's row of cells
};

/// The tiles of the same queries of several heads, added up. Tiles has Number, queries() and seen() of WeightTiles;
/// make(keys), false where the mask hides all; and then values() and masked().
template <class Tiles>
class HeadsTiles {
 public:
  using Real = typename Tiles::Number;

  /// `make` gives a head's tiles, of which these keys are used.
  template <class Make>
  HeadsTiles(std::size_t heads, const KeyRange& keys, const Make& make) : keys_(keys) {
    tiles_.reserve(heads);
    for (std::size_t n = 0; n < heads; ++n) tiles_.push_back(make());
  }

  [[nodiscard]] Tiles& head(std::size_t n) { return tiles_[n]; }

  [[nodiscard]] std::int64_t pairs() const {
    std::int64_t pairs = 0;
    for (const auto& tiles : tiles_) pairs += tiles.queries() * length(common(tiles.seen(), keys_));
    return pairs;
  }

  void add_to(TileSink<Real>& sink) {
    KeyRange range = {INT64_MAX, 0};
    for (const auto& tiles : tiles_) {
      const KeyRange own = tiles_that_meet(common(tiles.seen(), keys_));
      if (own.begin == own.end) continue;
      range = {std::min(range.begin, own.begin), std::max(range.end, own.end)};
    }
    for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
      const KeyRange keys = common({tile * kernels::kTile, (tile + 1) * kernels::kTile}, keys_);
      if (add(keys)) sink.add(keys, values_, visible_);
    }
  }

 private:
  bool add(const KeyRange& keys) {
    bool any = false;
    for (auto& tiles : tiles_) {
      if (!tiles.make(keys)) continue;
      if (!any) {
        values_.fill(0);
        visible_.fill(0);
      }
      any = true;
      for (std::size_t n = 0; n < values_.size(); ++n) {
        values_[n] += tiles.values()[n];
        visible_[n] += tiles.masked()[n] == -std::numeric_limits<Real>::infinity() ? Real{0} : Real{1};
      }
    }
    return any;
  }

  std::vector<Tiles> tiles_;
  KeyRange keys_;
  kernels::ScoreTile<Real> values_{};
  kernels::ScoreTile<Real> visible_{};
};

/// Adds all tiles of all maps. `make` gives a head's tiles; set(tiles, h, queries) turns them to these queries of head
/// h.
template <class Make, class Set>
void add_tiles(CellSums& sums, std::optional<int> threads, Clock& clock, const Make& make, const Set& set) {
  using Tiles = decltype(make());
  const std::vector<BlockRange> tasks = sums.tasks();
  const std::int64_t count = std::ssize(tasks);
  run_tasks(threads, clock, std::ssize(sums.groups) * count, [&](std::int64_t task) {
    const std::int64_t map = task / count;
    const std::vector<std::int64_t>& heads = sums.groups[static_cast<std::size_t>(map)];
    HeadsTiles<Tiles> tiles(heads.size(), sums.keys(), make);
    each_block(tasks[static_cast<std::size_t>(task % count)], [&](const BlockRange& queries) {
      for (std::size_t n = 0; n < heads.size(); ++n) set(tiles.head(n), heads[n], queries);
      TileSink<typename Tiles::Number> sink(sums, map, queries);
      tiles.add_to(sink);
      return clock.advance(tiles.pairs());
    });
  });
}

}  // namespace qkv::probe_detail
