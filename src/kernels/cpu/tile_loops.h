// A tile of scores and of weights, each stored whole: what looking at attention needs, beside computing it.
#pragma once

#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/product.h"

namespace qkv::kernels::cpu {

/// Tiles of kernels/score_tiles.h: the number of key c and query n stands at [c * kTile + n].
template <class S>
struct TileLoops {
  using F = typename S::F;

  /// scores = k . q of q [D][kTile] and k [keys][D], each sum over d in order; at least the first `queries` lanes.
  static void multiply(const float* q, const float* k, std::int64_t queries, std::int64_t keys, std::int64_t D,
                       float* scores) {
    constexpr std::int64_t kWidth = S::kLanes * S::kVectors;
    static_assert(kTile % kWidth == 0);
    const Broadcast rows = {.data = k, .row_stride = D, .step_stride = 1};
    for (std::int64_t n = 0; n < queries; n += kWidth) {
      product<S, S::kVectors, Sum::fresh>(keys, rows, q + n, D, scores + n, kTile);
    }
  }

  /// weights = exp(score - shift) * factor, 0 where the score is -inf; shift and factor [kTile], one for each query.
  static void weigh(const float* shift, const float* factor, std::int64_t keys, const float* scores, float* weights) {
    const F hidden = S::splat(-std::numeric_limits<float>::infinity());
    for (std::int64_t n = 0; n < kTile; n += S::kLanes) {
      const F shifts = S::load(shift + n);
      const F factors = S::load(factor + n);
      for (std::int64_t c = 0; c < keys; ++c) {
        const F score = S::load(scores + c * kTile + n);
        const F weight = S::mul(exponential(S::sub(score, shifts)), factors);
        // Also where the row is NaN.
        S::store(weights + c * kTile + n, S::select(S::equal(score, hidden), S::zero(), weight));
      }
    }
  }

 private:
  // An lse from elsewhere may be too small: +inf from 2^128 on.
  [[gnu::always_inline]] static F exponential(F x) {
    constexpr auto kLog2e = std::numbers::log2e_v<float>;
    return exp2<S>(S::min(S::splat(128.0F), S::mul(x, S::splat(kLog2e))));
  }
};

}  // namespace qkv::kernels::cpu
