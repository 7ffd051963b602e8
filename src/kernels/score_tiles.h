// Tiles of the T x T matrix, recomputed from q and k.
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

/// Turns scores into weights, for each query of a tile: exp(score - shift) * factor.
template <class Real>
struct WeightScale {
  std::array<Real, kTile> shift{};
  std::array<Real, kTile> factor{};
  std::array<double, kTile> rest{};  // lse - shift

  /// From a row's lse: w = exp(score - lse). -inf, a row that sees nothing, gives zeros.
  void set(std::int64_t lane, double lse);
};

/// Computes the tiles of up to 64 queries of a head, one after the other. Keeps q of these queries and one tile of k.
/// For one thread at a time.
template <class Real>
class ScoreTiles {
 public:
  /// f32 uses the loops of a target; f64 needs none.
  ScoreTiles(const Problem& problem, const cpu::Target* target);

  /// Sets the queries, 1 to kTile of them; `b` indexes the batch entries of q.
  void set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end);

  [[nodiscard]] std::int64_t queries() const { return place_.i_end - place_.i_begin; }
  /// The keys that these queries may see, from the mask's hull.
  [[nodiscard]] KeyRange seen() const;

  /// Sets the keys, 1 to kTile of them. False if the mask hides every pair.
  [[nodiscard]] bool set_keys(const KeyRange& keys);
  [[nodiscard]] std::int64_t keys() const { return place_.j_end - place_.j_begin; }

  /// raw, scaled, softcapped, biased or masked. Before `masked`, hidden pairs hold their scores.
  void scores(Stage stage, ScoreTile<Real>& tile);

  /// The weights of masked scores; 0 for those of -inf.
  void weigh(const WeightScale<Real>& scale, const ScoreTile<Real>& masked, ScoreTile<Real>& weights) const;

  /// Dropout, if the problem has it; NaN stays.
  void drop(ScoreTile<Real>& weights) const;
  /// Turns the gradients of dropped weights into those of weights: 0 if the weight was dropped.
  void drop_gradients(ScoreTile<Real>& gradients) const;

 private:
  template <class Drop>
  void drop_each(ScoreTile<Real>& tile, const Drop& drop) const;
  void shape(Stage stage, ScoreTile<Real>& tile) const;
  void load_biases();
  void add_bias(Stage stage, ScoreTile<Real>& tile);
  void hide(ScoreTile<Real>& tile) const;
  TileClass settle();
  /// The n-th query and the first key.
  [[nodiscard]] Place row(std::int64_t n) const { return {place_.b, place_.h, place_.i_begin + n, place_.j_begin}; }

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
