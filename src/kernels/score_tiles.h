// Tiles of the T x T matrix, made again from q and k.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/problem.h"
#include "kernels/tile_product.h"
#include "qkv/mask.h"
#include "qkv/stage.h"

namespace qkv::kernels {

/// What turns scores into weights, for each query of a tile: exp(score - shift) * factor.
template <class Real>
struct WeightScale {
  std::array<Real, kTile> shift{};
  std::array<Real, kTile> factor{};

  /// From a row's lse: w = exp(score - lse). -inf, a row that sees nothing, gives zeros.
  void set(std::int64_t lane, double lse);
};

/// Makes the tiles of up to 64 queries of a head, one after the other. Keeps q of these queries and one tile of k; not
/// for several threads at once.
template <class Real>
class ScoreTiles {
 public:
  /// f32 takes the loops of a target; f64 has its own, and may have none.
  ScoreTiles(const Problem& problem, const cpu::Target* target);

  /// At most kTile queries, one at least; `b` counts q's own batch entries.
  void set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end);

  [[nodiscard]] std::int64_t queries() const { return place_.i_end - place_.i_begin; }
  /// Outside of these no query sees anything, by the mask's own account.
  [[nodiscard]] KeyRange seen() const;

  /// Chooses at most kTile keys, one at least. False where the mask hides every pair.
  [[nodiscard]] bool set_keys(const KeyRange& keys);
  [[nodiscard]] std::int64_t keys() const { return place_.j_end - place_.j_begin; }

  /// raw, scaled, softcapped, biased or masked. Before `masked`, pairs that the mask hides hold their true numbers.
  void scores(Stage stage, ScoreTile<Real>& tile);

  /// The weights of masked scores; 0 for those of -inf.
  void weigh(const WeightScale<Real>& scale, const ScoreTile<Real>& masked, ScoreTile<Real>& weights) const;

  /// Dropout, if the problem has it; NaN stays.
  void drop(ScoreTile<Real>& weights) const;
  /// The same of the gradients by dropped weights, which become those by weights: 0 where a weight was dropped.
  void drop_gradients(ScoreTile<Real>& gradients) const;

 private:
  template <class Drop>
  void drop_each(ScoreTile<Real>& tile, const Drop& drop) const;
  void shape(Stage stage, ScoreTile<Real>& tile) const;
  void load_biases();
  void add_bias(Stage stage, ScoreTile<Real>& tile);
  void hide(ScoreTile<Real>& tile) const;
  TileClass settle();

  const Problem& problem_;
  const cpu::Target* target_;
  Tile place_;
  TileClass sort_ = TileClass::skip;
  std::array<std::uint64_t, kTile> bits_{};  // of a partial tile: bit c of a query's word for its c-th key
  TileProduct<Real> products_;
  std::vector<Real> biases_;  // [queries][kTile]
};

extern template struct WeightScale<float>;
extern template struct WeightScale<double>;
extern template class ScoreTiles<float>;
extern template class ScoreTiles<double>;

}  // namespace qkv::kernels
