// Sums of tiles in the cells of a map.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "probe/probe_state.h"

namespace qkv::probe_detail {

/// The bounds of `count` cells over `extent` rows or columns.
struct Cells {
  std::int64_t count;
  std::int64_t extent;

  [[nodiscard]] std::int64_t begin(std::int64_t cell) const { return cell * extent / count; }
  [[nodiscard]] std::int64_t of(std::int64_t place) const { return ((place + 1) * count - 1) / extent; }
};

/// A map under construction. A task owns whole rows of cells, so that no two tasks add to one cell.
struct CellSums {
  /// For the mean of `heads` matrices. Throws InvalidArgument naming `function` and size.rows or size.columns.
  CellSums(std::string_view function, const MaskShape& shape, const MapSize& size, Reduce how, std::size_t heads);

  /// The queries of each task.
  [[nodiscard]] std::vector<QueryRange> tasks() const;
  /// The cost of a pass over a head by these tasks, in pairs.
  [[nodiscard]] std::int64_t pairs(const kernels::Problem& problem, const HeadPlace& head) const;
  /// Turns sums into means.
  void finish();

  Cells rows;
  Cells columns;
  Reduce reduce;
  double heads;
  Tensor values;   // f64 [rows, columns], of the heads' sum
  Tensor visible;  // likewise, of ones where a pair is visible
};

template <class Real>
using Lanes = std::array<Real, kernels::kTile>;

/// Adds a tile, whose lanes are queries, to its cells.
template <class Real>
class TileSink {
 public:
  TileSink(CellSums& sums, const QueryRange& queries) : sums_(sums), queries_(queries.end - queries.begin) {
    for (std::int64_t n = 0; n < queries_; ++n) {
      cell_of_lane_[static_cast<std::size_t>(n)] = sums.rows.of(queries.begin + n);
    }
  }

  void add(const KeyRange& keys, const kernels::ScoreTile<Real>& values, const kernels::ScoreTile<Real>& visible) {
    for (std::int64_t j = keys.begin; j < keys.end;) {
      const std::int64_t column = sums_.columns.of(j);
      const std::int64_t end = std::min(keys.end, sums_.columns.begin(column + 1));
      const KeyRange within = {j - keys.begin, end - keys.begin};
      put(column, sums_.reduce == Reduce::mean ? sum(values, within) : maximum(values, within), sums_.reduce,
          sums_.values);
      put(column, sum(visible, within), Reduce::mean, sums_.visible);
      j = end;
    }
  }

 private:
  static Lanes<Real> sum(const kernels::ScoreTile<Real>& tile, const KeyRange& keys) {
    Lanes<Real> lanes{};
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const Real* row = tile.data() + c * kernels::kTile;
      for (std::size_t n = 0; n < kernels::kTile; ++n) lanes[n] += row[n];
    }
    return lanes;
  }

  static Lanes<Real> maximum(const kernels::ScoreTile<Real>& tile, const KeyRange& keys) {
    Lanes<Real> lanes{};
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const Real* row = tile.data() + c * kernels::kTile;
      for (std::size_t n = 0; n < kernels::kTile; ++n) lanes[n] = larger(lanes[n], row[n]);
    }
    return lanes;
  }

  void put(std::int64_t column, const Lanes<Real>& lanes, Reduce reduce, Tensor& map) {
    const auto cells = map.values<double>();
    for (std::int64_t n = 0; n < queries_; ++n) {
      const auto lane = static_cast<std::size_t>(n);
      double& cell = cells[static_cast<std::size_t>(cell_of_lane_[lane] * sums_.columns.count + column)];
      const auto value = static_cast<double>(lanes[lane]);
      cell = reduce == Reduce::mean ? cell + value : larger(cell, value);
    }
  }

  CellSums& sums_;
  std::int64_t queries_;
  std::array<std::int64_t, kernels::kTile> cell_of_lane_{};
};

/// The tiles of the same queries of several heads, added up. Tiles has Number, queries(), pairs(), tiles() and
/// keys_of() of WeightTiles; make(keys), false where the mask hides all; and then values() and masked().
template <class Tiles>
class HeadsTiles {
 public:
  using Real = typename Tiles::Number;

  /// `make` gives a head's tiles.
  template <class Make>
  HeadsTiles(std::size_t heads, const Make& make) {
    tiles_.reserve(heads);
    for (std::size_t n = 0; n < heads; ++n) tiles_.push_back(make());
  }

  [[nodiscard]] Tiles& head(std::size_t n) { return tiles_[n]; }

  [[nodiscard]] std::int64_t pairs() const {
    std::int64_t pairs = 0;
    for (const auto& tiles : tiles_) pairs += tiles.pairs();
    return pairs;
  }

  void add_to(TileSink<Real>& sink) {
    KeyRange range = {INT64_MAX, 0};
    for (const auto& tiles : tiles_) {
      const KeyRange own = tiles.tiles();
      if (own.begin == own.end) continue;
      range = {std::min(range.begin, own.begin), std::max(range.end, own.end)};
    }
    for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
      const KeyRange keys = tiles_.front().keys_of(tile);
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
  kernels::ScoreTile<Real> values_{};
  kernels::ScoreTile<Real> visible_{};
};

/// Adds all tiles. `make` gives a head's tiles; set(tiles, n, queries) turns those of the n-th head to these queries.
template <class Make, class Set>
void add_tiles(CellSums& sums, std::size_t heads, std::optional<int> threads, Clock& clock, const Make& make,
               const Set& set) {
  using Tiles = decltype(make());
  const std::vector<QueryRange> tasks = sums.tasks();
  run_tasks(threads, clock, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t task) {
    HeadsTiles<Tiles> tiles(heads, make);
    each_block(tasks[static_cast<std::size_t>(task)], [&](const QueryRange& queries) {
      for (std::size_t n = 0; n < heads; ++n) set(tiles.head(n), n, queries);
      TileSink<typename Tiles::Number> sink(sums, queries);
      tiles.add_to(sink);
      return clock.advance(tiles.pairs());
    });
  });
}

}  // namespace qkv::probe_detail
