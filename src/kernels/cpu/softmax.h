// The softmax of a tile's scores, which lie as [strip][key][lane]: every step is one operation on a vector of queries.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/reach.h"
#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// Keeps f32 weights where the scores were. There is room for a key beyond the last.
template <class S, std::int64_t kWidth>
struct InPlace {
  /// The largest total of a tile's weights if they were computed from old maxima.
  static constexpr float kLargestTotal = 0x1p16F;
  float* s;

  [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, typename S::F even,
                                         typename S::F odd) const {
    float* to = s + lane / kWidth * kWidth * kTile + lane % kWidth + c * kWidth;
    S::store(to, even);
    if (c + 1 < kTile) S::store(to + kWidth, odd);
  }
};

/// A running softmax of each lane: the row's weights so far are exp2((s - maximum) * to_log2), their sum `sum`.
struct Running {
  alignas(64) float maximum[kTile];
  alignas(64) float sum[kTile];
};

/// The steps on a score between the product and the softmax.
struct Shaping {
  float scale = 1;
  float softcap = 0;                       // 0: none
  const float* biases = nullptr;           // [strip][key][lane], null: none
  const std::uint64_t* visible = nullptr;  // bit n of word c: lane n sees key c; null: all do
};

template <class S, std::int64_t kWidth>
class TileSoftmax {
  using F = typename S::F;

 public:
  using Reach = cpu::Reach<S, kWidth>;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Up to here s * to_log2 - maximum * to_log2 may be one operation: what the product's rounding leaves is below 1/16.
  static constexpr float kLargestFused = 0x1p20F;

  static void shape(const Shaping& shaping, const Reach& reach, std::int64_t lanes, float* s) {
    const bool scaled = shaping.softcap > 0 || shaping.biases != nullptr;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      float* first = s + offset_of(lane);
      const float* biases = shaping.biases == nullptr ? nullptr : shaping.biases + offset_of(lane);
      if (scaled) {
        if (shaping.softcap > 0) {
          cap(shaping, biases, reach[lane], first);
        } else {
          add_biases(shaping, biases, reach[lane], first);
        }
      }
      if (shaping.visible != nullptr) hide(shaping.visible, lane, reach[lane], first);
    }
  }

  /// visible[key] gets the bits of the lanes whose score is above -inf or NaN.
  static void find_visible(const float* s, std::int64_t keys, std::int64_t lanes, std::uint64_t* visible) {
    for (std::int64_t c = 0; c < keys; ++c) {
      std::uint64_t word = 0;
      for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
        const F x = S::load(s + offset_of(lane) + c * kWidth);
        const std::uint64_t hidden = S::to_bits(S::equal(x, S::splat(-kInfinity)));
        word |= (~hidden & S::kAllLanes) << lane;
      }
      visible[c] = word;
    }
  }

  /// Raises a lane's maximum where the tile's is above it by more than `slack`. Writes the factor that makes up for it
  /// to `factors`; false if all are 1.
  static bool raise(const float* s, const Reach& reach, std::int64_t lanes, float to_log2, float slack,
                    Running& running, float* factors) {
    bool raised = false;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const F top = maximum(s + offset_of(lane), reach[lane]);
      raised = raise_lanes(top, lane, to_log2, slack, running, factors) || raised;
    }
    return raised;
  }

  /// The same of a vector of lanes, whose maxima over the tile are `top`.
  [[gnu::always_inline]] static bool raise_lanes(F top, std::int64_t lane, float to_log2, float slack, Running& running,
                                                 float* factors) {
    const F old = S::load(running.maximum + lane);
    const auto higher = S::less(S::splat(slack), S::sub(top, old));
    const bool raised = S::any(higher);
    F factor = S::splat(1.0F);
    if (raised) {
      S::store(running.maximum + lane, S::select(higher, top, old));
      factor = S::select(higher, exp2<S>(S::mul(S::sub(old, top), S::splat(to_log2))), factor);
      S::store(running.sum + lane, S::mul(S::load(running.sum + lane), factor));
    }
    S::store(factors + lane, factor);
    return raised;
  }

  /// Weights of the scores go to `to`, two keys at a time, and into the running sums.
  template <class To>
  static void weigh(const float* s, const Reach& reach, std::int64_t lanes, float to_log2, Running& running,
                    const To& to) {
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const F top = S::load(running.maximum + lane);
      const F shift = S::select(S::equal(top, S::splat(-kInfinity)), S::zero(), top);
      const F factor = S::splat(to_log2);
      const F scaled = S::mul(shift, factor);
      const float* first = s + offset_of(lane);
      const KeyRange& keys = reach[lane];
      F total;
      if (S::any(S::less(S::splat(kLargestFused), S::abs(scaled)))) {
        total = weigh_lanes(first, lane, keys, to, [&](F x) { return S::mul(S::sub(x, shift), factor); });
      } else {
        const F minus = S::sub(S::zero(), scaled);
        total = weigh_lanes(first, lane, keys, to, [&](F x) { return S::fma(x, factor, minus); });
      }
      S::store(running.sum + lane, S::add(S::load(running.sum + lane), total));
    }
  }

  /// As weigh(), with maxima that may lie below these scores: false if a lane's weights then become larger than `to`
  /// takes, or NaN, so that they must be made again from raised maxima. Running sums are only changed where it is true.
  template <class To>
  static bool weigh_settled(const float* s, const Reach& reach, std::int64_t lanes, float to_log2, Running& running,
                            const To& to) {
    const F factor = S::splat(to_log2);
    alignas(64) float totals[kTile];
    bool fits = may_fuse(running, to_log2);
    for (std::int64_t lane = 0; lane < lanes && fits; lane += S::kLanes) {
      const F minus = negated_shift(running, lane, factor);
      const F total = weigh_lanes(s + offset_of(lane), lane, reach[lane], to,
                                  [&](F x) { return saturated(S::fma(x, factor, minus)); });
      S::store(totals + lane, total);
      fits = S::to_bits(S::less(total, S::splat(To::kLargestTotal))) == S::kAllLanes;
    }
    if (!fits) return false;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      S::store(running.sum + lane, S::add(S::load(running.sum + lane), S::load(totals + lane)));
    }
    return true;
  }

  /// Gives weights that lie as their scores did to `to`, two keys at a time.
  template <class To>
  static void pass_on(const float* w, const Reach& reach, std::int64_t lanes, const To& to) {
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const float* from = w + offset_of(lane);
      const auto [begin, end] = reach[lane];
      for (std::int64_t c = begin; c < end; c += 2) {
        to(lane, c, S::load(from + c * kWidth), c + 1 < end ? S::load(from + (c + 1) * kWidth) : S::zero());
      }
    }
  }

  /// True if every lane has a maximum.
  static bool settled(const Running& running, std::int64_t lanes) {
    bool all = true;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      all = all && !S::any(S::equal(S::load(running.maximum + lane), S::splat(-kInfinity)));
    }
    return all;
  }

  /// True if no lane's maximum is so large that s * to_log2 - maximum * to_log2 needs two operations.
  static bool may_fuse(const Running& running, float to_log2) {
    bool may = true;
    for (std::int64_t lane = 0; lane < kTile; lane += S::kLanes) {
      may = may && !S::any(S::less(S::splat(kLargestFused), S::abs(shift_of(running, lane, S::splat(to_log2)))));
    }
    return may;
  }

  /// What is added to s * to_log2 of a vector of lanes.
  [[gnu::always_inline]] static F negated_shift(const Running& running, std::int64_t lane, F to_log2) {
    return S::sub(S::zero(), shift_of(running, lane, to_log2));
  }

  struct Total {
    F even = S::zero();
    F odd = S::zero();
  };

  /// A part of a tile's keys, from an even one on; `to` and `s` are those of a vector of lanes.
  template <class To, class Exponent>
  [[gnu::always_inline]] static void weigh_keys(const float* s, std::int64_t lane, KeyRange keys, const To& to,
                                                const Exponent& exponent, Total& total) {
    std::int64_t c = keys.begin;
    for (; c + 2 <= keys.end; c += 2) {
      const F a = exp2<S>(exponent(S::load(s + c * kWidth)));
      const F b = exp2<S>(exponent(S::load(s + (c + 1) * kWidth)));
      to(lane, c, a, b);
      total.even = S::add(total.even, a);
      total.odd = S::add(total.odd, b);
    }
    if (c < keys.end) {
      const F a = exp2<S>(exponent(S::load(s + c * kWidth)));
      to(lane, c, a, S::zero());
      total.even = S::add(total.even, a);
    }
  }

  static constexpr std::int64_t offset_of(std::int64_t lane) { return lane / kWidth * kWidth * kTile + lane % kWidth; }

  /// Of the scores of a vector of lanes.
  [[gnu::always_inline]] static F maximum(const float* s, const KeyRange& keys) {
    F a = S::splat(-kInfinity);
    F b = a;
    std::int64_t c = keys.begin;
    for (; c + 2 <= keys.end; c += 2) {
      a = S::max(a, S::load(s + c * kWidth));
      b = S::max(b, S::load(s + (c + 1) * kWidth));
    }
    if (c < keys.end) a = S::max(a, S::load(s + c * kWidth));
    return S::max(a, b);
  }

 private:
  // Exponents far above those that exp2 takes give infinity.
  [[gnu::always_inline]] static F saturated(F x) {
    if constexpr (S::kScalesByPowers) return x;
    return S::min(S::splat(128.0F), x);
  }

  [[gnu::always_inline]] static F shift_of(const Running& running, std::int64_t lane, F to_log2) {
    const F top = S::load(running.maximum + lane);
    return S::mul(S::select(S::equal(top, S::splat(-kInfinity)), S::zero(), top), to_log2);
  }

  // A bias of -inf hides even a score of +inf or NaN.
  [[gnu::always_inline]] static F biased(F x, F bias) {
    return S::select(S::equal(bias, S::splat(-kInfinity)), bias, S::add(x, bias));
  }

  static void cap(const Shaping& shaping, const float* biases, const KeyRange& keys, float* s) {
    const F inner = S::splat(shaping.scale / shaping.softcap);
    const F outer = S::splat(shaping.softcap);
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      F x = S::mul(tanh<S>(S::mul(S::load(s + c * kWidth), inner)), outer);
      if (biases != nullptr) x = biased(x, S::load(biases + c * kWidth));
      S::store(s + c * kWidth, x);
    }
  }

  static void add_biases(const Shaping& shaping, const float* biases, const KeyRange& keys, float* s) {
    const F scale = S::splat(shaping.scale);
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      S::store(s + c * kWidth, biased(S::mul(S::load(s + c * kWidth), scale), S::load(biases + c * kWidth)));
    }
  }

  static void hide(const std::uint64_t* visible, std::int64_t lane, const KeyRange& keys, float* s) {
    for (std::int64_t c = keys.begin; c < keys.end; ++c) {
      const auto seen = S::from_bits(visible[c] >> lane);
      S::store(s + c * kWidth, S::select(seen, S::load(s + c * kWidth), S::splat(-kInfinity)));
    }
  }

  template <class To, class Exponent>
  [[gnu::always_inline]] static F weigh_lanes(const float* s, std::int64_t lane, const KeyRange& keys, const To& to,
                                              const Exponent& exponent) {
    Total total;
    weigh_keys(s, lane, keys, to, exponent, total);
    return S::add(total.even, total.odd);
  }
};

}  // namespace qkv::kernels::cpu
