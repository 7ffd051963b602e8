#include <array>
#include <cmath>

#include "core/exact_math.h"
#include "probe/probe_state.h"

namespace qkv {
namespace {

using kernels::kTile;

using Lanes = std::array<double, kTile>;

// Sums over the keys of each query of a block.
template <class Real>
class BlockSums {
 public:
  /// Of queries from one at this position of the whole matrix on.
  BlockSums(const MatrixWindow& window, std::int64_t first_position)
      : window_(window), first_position_(first_position) {}

  void add(const kernels::ScoreTile<Real>& masked, const kernels::ScoreTile<Real>& weights,
           const std::array<Real, kTile>& shift, const KeyRange& keys) {
    Part part{.step = static_cast<int>(window_.step_i)};
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      const std::int64_t c = j - keys.begin;
      const std::int64_t beyond = window_.key(j) - first_position_;
      part.add(masked.data() + c * kTile, weights.data() + c * kTile, shift, static_cast<Real>(-beyond));
      const std::int64_t lane = beyond / window_.step_i;
      if (beyond >= 0 && lane < kTile && lane * window_.step_i == beyond) {
        diagonal_[index(lane)] = static_cast<double>(weights[index(c * kTile + lane)]);
      }
    }
    for (std::size_t n = 0; n < kTile; ++n) {
      mass_[n] += static_cast<double>(part.mass[n]);
      surprise_[n] += static_cast<double>(part.surprise[n]);
      distance_[n] += static_cast<double>(part.distance[n]);
      visible_[n] += static_cast<double>(part.visible[n]);
      largest_[n] = probe_detail::larger(largest_[n], static_cast<double>(part.largest[n]));
      if (window_.key(keys.begin) == 0) first_[n] = static_cast<double>(weights[n]);
    }
  }

  // `rest` is lse less the shift.
  void store(std::size_t n, double rest, std::int64_t i, RowStatistics& rows) const {
    const double visible = visible_[n];
    double entropy = surprise_[n] + rest * mass_[n];
    if (entropy < 0) entropy = 0;  // rounding, at a weight of 1
    rows.visible.set({i}, visible);
    rows.entropy.set({i}, visible == 0 ? 0 : entropy);
    rows.normalised_entropy.set({i}, visible > 1 ? entropy / core::log(visible) : 0);
    rows.mass.set({i}, mass_[n]);
    rows.distance.set({i}, distance_[n]);
    rows.largest.set({i}, largest_[n]);
    rows.first.set({i}, first_[n]);
    rows.diagonal.set({i}, diagonal_[n]);
  }

 private:
  // The same over the keys of one tile.
  struct Part {
    int step = 1;
    std::array<Real, kTile> mass{}, surprise{}, distance{}, visible{}, largest{};

    // p_first: position of the first query minus the key.
    void add(const Real* scores, const Real* weights, const std::array<Real, kTile>& shift, Real p_first) {
      for (std::size_t n = 0; n < kTile; ++n) {
        const Real weight = weights[n];
        const Real log_weight = scores[n] - shift[n];
        const Real away = p_first + static_cast<Real>(static_cast<int>(n) * step);
        mass[n] += weight;
        surprise[n] -= weight == 0 ? Real{0} : weight * log_weight;
        distance[n] += weight * (away < 0 ? -away : away);
        visible[n] += scores[n] == -std::numeric_limits<Real>::infinity() ? Real{0} : Real{1};
        largest[n] = probe_detail::larger(largest[n], weight);
      }
    }
  };

  static std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

  const MatrixWindow& window_;
  std::int64_t first_position_;
  Lanes mass_{}, surprise_{}, distance_{}, visible_{}, largest_{}, first_{}, diagonal_{};
};

RowStatistics rows_of(std::int64_t Tq) {
  RowStatistics rows;
  rows.visible = Tensor(DType::i64, {Tq});
  for (Tensor* column : {&rows.mass, &rows.entropy, &rows.normalised_entropy, &rows.distance, &rows.largest,
                         &rows.first, &rows.diagonal}) {
    *column = Tensor(DType::f64, {Tq});
  }
  return rows;
}

}  // namespace

double RowStatistics::mean(const Tensor& column) const {
  double sum = 0;
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < visible.dim(0); ++i) {
    if (visible.at({i}) == 0) continue;
    sum += column.at({i});
    ++rows;
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

RowStatistics Probe::statistics(HeadPlace head, Align align, const ProbeWatch& watch) const {
  state_->require_head("Probe::statistics", head);
  const kernels::Problem& problem = state_->problem;
  const MatrixWindow& window = problem.window;
  const std::int64_t shift_of_place = align == Align::bottom_right ? window.Tk - window.Tq : 0;
  RowStatistics rows = rows_of(shape().Tq);
  probe_detail::each_block_of_head(
      *state_, head, watch, [&](auto& tiles, std::span<const double> /*lse*/, std::int64_t i) {
        using Real = typename std::remove_cvref_t<decltype(tiles)>::Number;
        BlockSums<Real> sums(window, window.query(i) + shift_of_place);
        std::array<Real, kTile> shift{};
        for (std::int64_t n = 0; n < tiles.queries(); ++n) shift[static_cast<std::size_t>(n)] = tiles.shift(n);
        tiles.each_weighed([&](const KeyRange& keys) { sums.add(tiles.masked(), tiles.weights(), shift, keys); });
        for (std::int64_t n = 0; n < tiles.queries(); ++n) {
          sums.store(static_cast<std::size_t>(n), tiles.rest(n), i + n, rows);
        }
      });
  return rows;
}

}  // namespace qkv
