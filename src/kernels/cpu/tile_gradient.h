// From a tile's scores and d_weights to its weights and d_scores: every step is one operation on a vector of queries.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/row_sums.h"

namespace qkv::kernels::cpu {

template <class S>
class TileGradient {
  using F = typename S::F;

 public:
  /// slopes = 1 - tanh(inner * s)^2, the derivative of the softcap.
  static void slopes_of(const float* s, float inner, std::int64_t keys, std::int64_t lanes, float* slopes) {
    for_each_vector(keys, lanes, [&](std::int64_t n, std::int64_t) {
      const F t = tanh<S>(S::mul(S::load(s + n), S::splat(inner)));
      S::store(slopes + n, S::sub(S::splat(1.0F), S::mul(t, t)));
    });
  }

  /// Turns s into weights and d_weights into d_scores; hidden pairs have 0 in both.
  static void weigh(const RowSums& rows, float to_log2, std::int64_t keys, std::int64_t lanes, float* s,
                    float* d_weights) {
    const auto run = [&](const auto& pair_of) {
      for_each_vector(keys, lanes, [&](std::int64_t n, std::int64_t lane) {
        const Pair pair = pair_of(s + n, lane);
        const F d_score = S::mul(pair.weight, S::sub(S::load(d_weights + n), S::load(rows.delta + lane)));
        S::store(s + n, pair.weight);
        S::store(d_weights + n, S::select(pair.hidden, S::zero(), d_score));
      });
    };
    if (rows.scaled) {
      run([&](const float* x, std::int64_t lane) { return by_sum(rows, to_log2, x, lane); });
    } else {
      run([&](const float* x, std::int64_t lane) { return by_lse(rows, to_log2, x, lane); });
    }
  }

  /// Turns s into weights, kHidden for hidden pairs.
  static void weigh_only(const RowSums& rows, float to_log2, std::int64_t keys, std::int64_t lanes, float* s) {
    for_each_vector(keys, lanes, [&](std::int64_t n, std::int64_t lane) {
      const Pair pair = rows.scaled ? by_sum(rows, to_log2, s + n, lane) : by_lse(rows, to_log2, s + n, lane);
      S::store(s + n, S::select(pair.hidden, S::splat(kHidden), pair.weight));
    });
  }

  /// Adds a tile's scores to the sums of their rows.
  static void add_to_sums(const float* s, float to_log2, std::int64_t keys, std::int64_t lanes, float* maxima,
                          float* sums) {
    const F factor = S::splat(to_log2);
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const F old = S::load(maxima + lane);
      F top = old;
      for (std::int64_t c = 0; c < keys; ++c) top = S::max(top, S::load(s + c * kTile + lane));
      const F shift = S::select(S::equal(top, S::splat(-kInfinity)), S::zero(), top);
      F total = S::zero();
      for (std::int64_t c = 0; c < keys; ++c) {
        total = S::add(total, exp2<S>(S::mul(S::sub(S::load(s + c * kTile + lane), shift), factor)));
      }
      const F before = S::mul(S::load(sums + lane), exp2<S>(S::mul(S::sub(old, shift), factor)));
      S::store(maxima + lane, top);
      S::store(sums + lane, S::add(before, total));
    }
  }

  /// Follows weigh_only(). `kept` holds the factors of dropout, 0 or more, and becomes the dropped weights, in which
  /// NaN stays; d_weights become d_scores.
  static void to_d_scores(const RowSums& rows, std::int64_t keys, std::int64_t lanes, const float* weights, float* kept,
                          float* d_weights) {
    for_each_vector(keys, lanes, [&](std::int64_t n, std::int64_t lane) {
      const F weight = S::load(weights + n);
      const F factor = S::load(kept + n);
      const auto hidden = S::equal(weight, S::splat(kHidden));
      const auto dropped = S::equal(factor, S::zero());
      const F arrived = S::select(dropped, S::zero(), S::mul(factor, S::load(d_weights + n)));
      const F d_score = S::mul(weight, S::sub(arrived, S::load(rows.delta + lane)));
      S::store(kept + n, S::select(hidden, S::zero(), S::mul(weight, factor)));
      S::store(d_weights + n, S::select(hidden, S::zero(), d_score));
    });
  }

  /// A hidden pair's slope may be NaN.
  static void multiply(const float* slopes, std::int64_t keys, std::int64_t lanes, float* d_scores) {
    for_each_vector(keys, lanes, [&](std::int64_t n, std::int64_t) {
      const F d_score = S::load(d_scores + n);
      const F product = S::mul(d_score, S::load(slopes + n));
      S::store(d_scores + n, S::select(S::equal(d_score, S::zero()), S::zero(), product));
    });
  }

 private:
  static constexpr float kHidden = -1;

  struct Pair {
    F weight;
    typename S::M hidden;
  };

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  [[gnu::always_inline]] static Pair by_sum(const RowSums& rows, float to_log2, const float* s, std::int64_t lane) {
    const F x = S::load(s);
    const F exponent = S::mul(S::sub(x, S::load(rows.shift + lane)), S::splat(to_log2));
    const F weight = S::mul(exp2<S>(S::min(S::zero(), exponent)), S::load(rows.factor + lane));
    const auto hidden = S::equal(x, S::splat(-kInfinity));
    return {.weight = S::select(hidden, S::zero(), weight), .hidden = hidden};
  }

  // A weight is at most 1, whatever lse is.
  [[gnu::always_inline]] static Pair by_lse(const RowSums& rows, float to_log2, const float* s, std::int64_t lane) {
    const F x = S::load(s);
    const F exponent = S::fma(x, S::splat(to_log2), S::sub(S::zero(), S::load(rows.log2_sum + lane)));
    const auto hidden = S::equal(x, S::splat(-kInfinity));
    return {.weight = S::select(hidden, S::zero(), exp2<S>(S::min(S::zero(), exponent))), .hidden = hidden};
  }

  template <class Body>
  [[gnu::always_inline]] static void for_each_vector(std::int64_t keys, std::int64_t lanes, const Body& body) {
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      for (std::int64_t c = 0; c < keys; ++c) body(c * kTile + lane, lane);
    }
  }
};

}  // namespace qkv::kernels::cpu
