// Tiles of the gradients of the T x T matrices, recomputed from q, k, v, lse and d_out.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/backward_problem.h"
#include "kernels/lse_rows.h"
#include "kernels/row_delta.h"
#include "kernels/score_tiles.h"

namespace qkv::kernels {

/// Computes the tiles of up to 64 queries of a head, one after the other, in Real (float or double). Keeps q and d_out
/// of these queries and one tile of k and v. For one thread at a time.
template <class Real>
class GradientTiles {
 public:
  /// As for ScoreTiles; `lse` is that of the problem.
  GradientTiles(const BackwardProblem& problem, const cpu::Target* target, const LseRows& lse);

  /// Sets the queries, 1 to kTile of them; `b` indexes the batch entries of q.
  void set_queries(std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end);
  [[nodiscard]] std::int64_t queries() const { return scores_.queries(); }
  [[nodiscard]] KeyRange seen() const { return scores_.seen(); }

  /// Sets the keys, 1 to kTile of them. False if the mask hides every pair.
  [[nodiscard]] bool set_keys(const KeyRange& keys);
  [[nodiscard]] std::int64_t keys() const { return scores_.keys(); }

  /// The gradients with respect to weights and to biased scores; 0 for forbidden pairs, whose v are read and not used.
  void compute();
  /// -inf if the pair is forbidden.
  [[nodiscard]] const ScoreTile<Real>& masked() const { return masked_; }
  [[nodiscard]] const ScoreTile<Real>& d_weights() const { return d_weights_; }
  [[nodiscard]] const ScoreTile<Real>& d_scores() const { return d_scores_; }

  /// Computes the gradient with respect to any stage; valid until the next call.
  [[nodiscard]] const ScoreTile<Real>& by(Stage stage);

 private:
  void pass_softcap();

  const BackwardProblem& problem_;
  ScoreTiles<Real> scores_;
  TileProduct<Real> d_products_;  // of d_out and v
  RowDelta row_delta_;
  const LseRows& lse_;
  WeightScale<Real> scale_;
  std::array<Real, kTile> delta_{};  // of each query
  std::int64_t b_ = 0;
  std::int64_t key_head_ = 0;
  KeyRange range_;
  alignas(64) ScoreTile<Real> masked_{};
  alignas(64) ScoreTile<Real> d_weights_{};
  alignas(64) ScoreTile<Real> d_scores_{};
};

extern template class GradientTiles<float>;
extern template class GradientTiles<double>;

}  // namespace qkv::kernels
