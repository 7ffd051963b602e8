// The lse of rows, as accurate as recomputed tiles need it.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/problem.h"
#include "kernels/score_tiles.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The tile of kTile keys, counted from 0.
[[nodiscard]] KeyRange keys_of_tile(std::int64_t tile, std::int64_t Tk);

/// The lse of the current queries of `tiles`, from the scores of all their keys and the sink. Uses two tiles of scratch
/// and changes the current keys.
template <class Real>
void log_sum_exp(ScoreTiles<Real>& tiles, const Problem& problem, std::int64_t h, std::span<double> lse);

/// Whether half a unit of a double so large is more than 2^-23 (f32) or 2^-41 (f64), which a weight would be off by.
template <class Real>
[[nodiscard]] bool is_coarse(double lse) {
  constexpr double kMost = std::is_same_v<Real, float> ? 0x1p30 : 0x1p12;
  return std::isfinite(lse) && std::fabs(lse) > kMost;
}

/// The scale of the weights of the current queries, from their lse. One so large that its own rounding would be seen in
/// weights, is_coarse(), is summed again, and its row's maximum and sum are kept apart, unless it is of more keys. Uses
/// and changes as log_sum_exp() where there is such a row.
template <class Real>
void set_scale(ScoreTiles<Real>& tiles, const Problem& problem, std::int64_t h, std::span<const double> lse,
               WeightScale<Real>& scale);

/// The lse [B, Hq, Tq] that a caller has given. In f32 it is too coarse for weights if scores are large. Unless it is
/// of more keys, the row is then summed again, from the scores that its weights use, so that they sum to 1. Safe from
/// several threads at once.
class LseRows {
 public:
  /// `settled`: the result of settled_lse(), which is used as it is.
  enum class Kind : std::uint8_t { given, settled };

  LseRows(const Problem& problem, const TensorView& lse, Kind kind = Kind::given)
      : problem_(problem), given_(lse), kind_(kind) {}

  /// Writes the lse of lse.size() queries from i_begin on, the current queries of `tiles`.
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

/// The lse that LseRows uses for all rows, in f64, for scores of f32.
[[nodiscard]] Tensor settled_lse(const Problem& problem, const TensorView& given, const cpu::Target& target,
                                 int threads);

}  // namespace qkv::kernels
