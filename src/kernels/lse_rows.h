// The lse of rows as tiles that are made again need it, and the walk that sums it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/problem.h"
#include "kernels/score_tiles.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The tile of kTile keys, counted from 0.
[[nodiscard]] KeyRange keys_of_tile(std::int64_t tile, std::int64_t Tk);

/// The lse of the queries that `tiles` has been set to, from the scores of all of their keys and the sink. Uses two
/// tiles of scratch; the keys chosen last are others afterwards.
template <class Real>
void log_sum_exp(ScoreTiles<Real>& tiles, std::int64_t Tk, std::optional<double> sink, std::span<double> lse);

/// The lse [B, Hq, Tq] that a caller has given. Rounded to f32 it is too coarse for weights where scores are large: a
/// row whose own keys it is of is then summed again, from the very scores that its weights are made of, so that they
/// sum to 1. Safe from several threads at once.
class LseRows {
 public:
  /// `settled`: what settled_lse() has made, to be read as it is.
  enum class Kind : std::uint8_t { given, settled };

  LseRows(const Problem& problem, const TensorView& lse, Kind kind = Kind::given)
      : problem_(problem), given_(lse), kind_(kind) {}

  /// Writes the lse of queries i_begin on, of which `tiles` holds lse.size(), and which it has been set to.
  template <class Real>
  void read(ScoreTiles<Real>& tiles, std::int64_t b, std::int64_t h, std::int64_t i_begin, std::span<double> lse) const;

 private:
  [[nodiscard]] const std::vector<double>& largest_key(std::int64_t b, std::int64_t key_head) const;

  const Problem& problem_;
  TensorView given_;
  Kind kind_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> largest_keys_;
};

/// What LseRows reads of all rows, in f64, for scores of f32.
[[nodiscard]] Tensor settled_lse(const Problem& problem, const TensorView& given, const cpu::Target& target,
                                 int threads);

}  // namespace qkv::kernels
