// The weights of a few queries, tile by tile.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/lse_rows.h"
#include "kernels/score_tiles.h"
#include "qkv/probe.h"

namespace qkv::probe_detail {

/// The tiles of kTile keys that overlap these keys.
[[nodiscard]] KeyRange tiles_that_meet(const KeyRange& keys);

/// The keys in both; empty if there are none.
[[nodiscard]] KeyRange common(const KeyRange& a, const KeyRange& b);
[[nodiscard]] inline std::int64_t length(const KeyRange& keys) {
  return keys.end > keys.begin ? keys.end - keys.begin : 0;
}

/// Up to kTile queries of one head, and their tile with the current keys.
template <class Real>
class WeightTiles {
 public:
  using Number = Real;
  using Tile = kernels::ScoreTile<Real>;

  WeightTiles(const kernels::Problem& problem, const kernels::cpu::Target* target)
      : problem_(problem), tiles_(problem, target) {}

  void set_queries(const HeadPlace& head, std::int64_t i_begin, std::int64_t i_end);
  /// lse[n] is that of the n-th query.
  void set_lse(std::span<const double> lse);
  /// What weigh() subtracts from the n-th query's scores: lse in Real, or its largest part; 0 if it sees nothing.
  [[nodiscard]] Real shift(std::int64_t n) const { return scale_.shift[static_cast<std::size_t>(n)]; }
  /// Of its lse what the shift leaves.
  [[nodiscard]] double rest(std::int64_t n) const { return scale_.rest[static_cast<std::size_t>(n)]; }
  /// The queries' lse, computed by a pass over the keys.
  void log_sum_exp(std::span<double> lse);
  /// Their given lse from query i_begin on; rows for which it is too coarse are summed again.
  void read_lse(const kernels::LseRows& rows, std::int64_t i_begin, std::span<double> lse);

  [[nodiscard]] std::int64_t queries() const { return tiles_.queries(); }
  [[nodiscard]] std::int64_t keys() const { return tiles_.keys(); }
  /// The cost of a pass over the keys, in pairs.
  [[nodiscard]] std::int64_t pairs() const;

  /// Computes a tile of masked scores; false if the mask hides all of it.
  [[nodiscard]] bool score(const KeyRange& keys);
  /// Computes a tile of masked scores and of weights; needs set_lse().
  [[nodiscard]] bool weigh(const KeyRange& keys);
  [[nodiscard]] const Tile& masked() const { return masked_; }
  [[nodiscard]] const Tile& weights() const { return weights_; }

  /// Any stage of at most kTile keys, hidden ones too.
  [[nodiscard]] const Tile& stage(Stage stage, const KeyRange& keys);

  /// Calls visit(keys) after weigh(keys) for each tile that some query sees, keys ascending.
  template <class Visit>
  void each_weighed(const Visit& visit) {
    const KeyRange range = tiles_that_meet(seen());
    for (std::int64_t tile = range.begin; tile < range.end; ++tile) {
      const KeyRange keys = kernels::keys_of_tile(tile, problem_.shape.Tk);
      if (weigh(keys)) visit(keys);
    }
  }

  /// The mask's hull: all other keys are hidden.
  [[nodiscard]] KeyRange seen() const { return tiles_.seen(); }

 private:
  const kernels::Problem& problem_;
  std::int64_t b_ = 0;
  std::int64_t h_ = 0;
  kernels::ScoreTiles<Real> tiles_;
  kernels::WeightScale<Real> scale_;
  alignas(64) Tile masked_{};
  alignas(64) Tile weights_{};
};

/// The larger of two weights; NaN if one is NaN.
template <class Real>
[[gnu::always_inline]] inline Real larger(Real a, Real b) {
  return b > a || std::isnan(b) ? b : a;
}

extern template class WeightTiles<float>;
extern template class WeightTiles<double>;

}  // namespace qkv::probe_detail
