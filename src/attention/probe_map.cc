#include <fmt/core.h>

#include <array>
#include <vector>

#include "attention/probe_state.h"

namespace qkv {
namespace {

using kernels::kTile;

// Where `count` cells over `extent` places begin and end.
struct Cells {
  std::int64_t count;
  std::int64_t extent;

  [[nodiscard]] std::int64_t begin(std::int64_t cell) const { return cell * extent / count; }
  [[nodiscard]] std::int64_t of(std::int64_t place) const { return ((place + 1) * count - 1) / extent; }
};

// The sums of one map, and the rows of cells that a task may write.
struct Target {
  Cells rows;
  Cells columns;
  Reduce reduce;
  std::span<double> weights;
  std::span<double> visible;
};

template <class Real>
using Lanes = std::array<Real, kTile>;

// Adds a tile, lanes being queries, to the cells that it meets.
template <class Real>
class TileSink {
 public:
  TileSink(const Target& target, std::int64_t i_begin, std::int64_t queries) : target_(target), queries_(queries) {
    for (std::int64_t n = 0; n < queries; ++n) cell_of_lane_[static_cast<std::size_t>(n)] = target.rows.of(i_begin + n);
  }

  void add(const KeyRange& keys, const kernels::ScoreTile<Real>& weights, const kernels::ScoreTile<Real>& visible) {
    for (std::int64_t j = keys.begin; j < keys.end;) {
      const std::int64_t column = target_.columns.of(j);
      const std::int64_t end = std::min(keys.end, target_.columns.begin(column + 1));
      const KeyRange within = {j - keys.begin, end - keys.begin};
      put(column, target_.reduce == Reduce::mean ? sum(weights, within) : maximum(weights, within), target_.reduce,
          target_.weights);
      put(column, sum(visible, within), Reduce::mean, target_.visible);
      j = end;
    }
  }

 private:
  static Lanes<Real> sum(const kernels::ScoreTile<Real>& tile, const KeyRange& keys) {
    Lanes<Real> lanes{};
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const Real* row = tile.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) lanes[n] += row[n];
    }
    return lanes;
  }

  static Lanes<Real> maximum(const kernels::ScoreTile<Real>& tile, const KeyRange& keys) {
    Lanes<Real> lanes{};
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const Real* row = tile.data() + c * kTile;
      for (std::size_t n = 0; n < kTile; ++n) lanes[n] = probe_detail::larger(lanes[n], row[n]);
    }
    return lanes;
  }

  void put(std::int64_t column, const Lanes<Real>& lanes, Reduce reduce, std::span<double> cells) const {
    for (std::int64_t n = 0; n < queries_; ++n) {
      const auto lane = static_cast<std::size_t>(n);
      double& cell = cells[static_cast<std::size_t>(cell_of_lane_[lane] * target_.columns.count + column)];
      const auto value = static_cast<double>(lanes[lane]);
      cell = reduce == Reduce::mean ? cell + value : probe_detail::larger(cell, value);
    }
  }

  const Target& target_;
  std::int64_t queries_;
  std::array<std::int64_t, kTile> cell_of_lane_{};
};

// The tiles of the same queries of several heads, averaged.
template <class Real>
class HeadsTiles {
 public:
  HeadsTiles(const probe_detail::State& state, std::size_t heads) : share_(Real{1} / static_cast<Real>(heads)) {
    tiles_.reserve(heads);
    for (std::size_t n = 0; n < heads; ++n) tiles_.emplace_back(state.problem, state.target);
  }

  [[nodiscard]] probe_detail::WeightTiles<Real>& head(std::size_t n) { return tiles_[n]; }
  [[nodiscard]] std::int64_t queries() const { return tiles_.front().queries(); }

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
      if (average(keys)) sink.add(keys, weights_, visible_);
    }
  }

 private:
  bool average(const KeyRange& keys) {
    bool any = false;
    for (auto& tiles : tiles_) {
      if (!tiles.weigh(keys)) continue;
      if (!any) {
        weights_.fill(0);
        visible_.fill(0);
      }
      any = true;
      for (std::size_t n = 0; n < weights_.size(); ++n) {
        weights_[n] += tiles.weights()[n] * share_;
        visible_[n] += tiles.masked()[n] == -std::numeric_limits<Real>::infinity() ? Real{0} : share_;
      }
    }
    return any;
  }

  Real share_;
  std::vector<probe_detail::WeightTiles<Real>> tiles_;
  kernels::ScoreTile<Real> weights_{};
  kernels::ScoreTile<Real> visible_{};
};

void check_size(const MapSize& size, const MaskShape& shape) {
  const auto check = [](std::string_view argument, std::int64_t cells, std::int64_t extent, std::string_view axis) {
    if (cells >= 1 && cells <= extent) return;
    throw InvalidArgument("Probe::map", argument, fmt::format("1 to {} = {}", axis, extent), fmt::to_string(cells));
  };
  check("size.rows", size.rows, shape.Tq, "Tq");
  check("size.columns", size.columns, shape.Tk, "Tk");
}

// A task owns whole rows of cells, so that no two add to one cell.
std::vector<probe_detail::QueryRange> tasks_of(const Cells& rows) {
  constexpr std::int64_t kQueriesOfTask = 4 * kTile;
  const std::int64_t rows_of_task = std::max<std::int64_t>(1, kQueriesOfTask * rows.count / rows.extent);
  std::vector<probe_detail::QueryRange> tasks;
  for (std::int64_t row = 0; row < rows.count; row += rows_of_task) {
    tasks.push_back({rows.begin(row), rows.begin(std::min(row + rows_of_task, rows.count))});
  }
  return tasks;
}

// Sums become means.
void divide(const Cells& rows, const Cells& columns, std::span<double> cells) {
  std::size_t place = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t queries = rows.begin(r + 1) - rows.begin(r);
    for (std::int64_t c = 0; c < columns.count; ++c, ++place) {
      cells[place] /= static_cast<double>(queries * (columns.begin(c + 1) - columns.begin(c)));
    }
  }
}

}  // namespace

WeightMap Probe::map(HeadPlace head, const MapSize& size, Reduce reduce, const ProbeWatch& watch) const {
  return map(head.b, {&head.h, 1}, size, reduce, watch);
}

WeightMap Probe::map(std::int64_t b, std::span<const std::int64_t> heads, const MapSize& size, Reduce reduce,
                     const ProbeWatch& watch) const {
  const kernels::Problem& problem = state_->problem;
  if (heads.empty()) throw InvalidArgument("Probe::map", "heads", "one head at least", "none");
  for (const std::int64_t h : heads) state_->require_head("Probe::map", {b, h});
  check_size(size, problem.shape);
  const Cells rows = {size.rows, problem.shape.Tq};
  const Cells columns = {size.columns, problem.shape.Tk};
  WeightMap map{.weights = Tensor(DType::f64, {size.rows, size.columns}),
                .visible = Tensor(DType::f64, {size.rows, size.columns})};
  const Target target = {rows, columns, reduce, map.weights.values<double>(), map.visible.values<double>()};
  const std::vector<probe_detail::QueryRange> tasks = tasks_of(rows);
  std::int64_t pairs = 0;
  for (const std::int64_t h : heads) {
    pairs += probe_detail::lse_pairs(*state_, {b, h});
    for (const auto& queries : tasks) pairs += probe_detail::count_pairs(problem, {b, h}, queries);
  }
  probe_detail::Clock clock(watch, pairs);
  std::vector<std::shared_ptr<const std::vector<double>>> lse;
  for (const std::int64_t h : heads) lse.push_back(probe_detail::require_lse(*state_, {b, h}, clock));
  probe_detail::with_real(*state_, [&](auto real) {
    using Real = decltype(real);
    probe_detail::run_tasks(*state_, clock, static_cast<std::int64_t>(tasks.size()), [&](std::int64_t task) {
      HeadsTiles<Real> tiles(*state_, heads.size());
      probe_detail::each_block(tasks[static_cast<std::size_t>(task)], [&](const probe_detail::QueryRange& queries) {
        for (std::size_t n = 0; n < heads.size(); ++n) {
          tiles.head(n).set_queries({b, heads[n]}, queries.begin, queries.end);
          tiles.head(n).set_lse(std::span(*lse[n]).subspan(static_cast<std::size_t>(queries.begin)));
        }
        TileSink<Real> sink(target, queries.begin, tiles.queries());
        tiles.add_to(sink);
        return clock.advance(tiles.pairs());
      });
    });
  });
  clock.finish();
  if (reduce == Reduce::mean) divide(rows, columns, map.weights.values<double>());
  divide(rows, columns, map.visible.values<double>());
  return map;
}

}  // namespace qkv
