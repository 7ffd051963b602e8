// The softmax of a tile's scores, which lie as [strip][key][lane]: every step is one operation on a vector of queries.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// A running softmax of each lane: the row's weights so far are exp2((s - maximum) * to_log2), their sum `sum`.
struct Running {
  alignas(64) float maximum[kTile];
  alignas(64) float sum[kTile];
};

/// What happens to a score between the product and the softmax.
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
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  static void shape(const Shaping& shaping, std::int64_t keys, std::int64_t lanes, float* s) {
    const bool scaled = shaping.softcap > 0 || shaping.biases != nullptr;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      float* first = s + offset_of(lane);
      const float* biases = shaping.biases == nullptr ? nullptr : shaping.biases + offset_of(lane);
      if (scaled) {
        if (shaping.softcap > 0) {
          cap(shaping, biases, keys, first);
        } else {
          add_biases(shaping, biases, keys, first);
        }
      }
      if (shaping.visible != nullptr) hide(shaping.visible, lane, keys, first);
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
  static bool raise(const float* s, std::int64_t keys, std::int64_t lanes, float to_log2, float slack, Running& running,
                    float* factors) {
    bool raised = false;
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const F top = maximum(s + offset_of(lane), keys);
      const F old = S::load(running.maximum + lane);
      const auto higher = S::less(S::add(old, S::splat(slack)), top);
      F factor = S::splat(1.0F);
      if (S::any(higher)) {
        raised = true;
        S::store(running.maximum + lane, S::select(higher, top, old));
        factor = S::select(higher, exp2<S>(S::mul(S::sub(old, top), S::splat(to_log2))), factor);
        S::store(running.sum + lane, S::mul(S::load(running.sum + lane), factor));
      }
      S::store(factors + lane, factor);
    }
    return raised;
  }

  /// Scores become weights, in place; adds them to the running sums.
  static void weigh(std::int64_t keys, std::int64_t lanes, float to_log2, Running& running, float* s) {
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const F top = S::load(running.maximum + lane);
      const F shift = S::select(S::equal(top, S::splat(-kInfinity)), S::zero(), top);
      const F total = weigh_lanes(keys, S::splat(to_log2), shift, s + offset_of(lane));
      S::store(running.sum + lane, S::add(S::load(running.sum + lane), total));
    }
  }

  static constexpr std::int64_t offset_of(std::int64_t lane) { return lane / kWidth * kWidth * kTile + lane % kWidth; }

 private:
  // A bias of -inf hides even a score of +inf or NaN.
  [[gnu::always_inline]] static F biased(F x, F bias) {
    return S::select(S::equal(bias, S::splat(-kInfinity)), bias, S::add(x, bias));
  }

  static void cap(const Shaping& shaping, const float* biases, std::int64_t keys, float* s) {
    const F inner = S::splat(shaping.scale / shaping.softcap);
    const F outer = S::splat(shaping.softcap);
    for (std::int64_t c = 0; c < keys; ++c) {
      F x = S::mul(tanh<S>(S::mul(S::load(s + c * kWidth), inner)), outer);
      if (biases != nullptr) x = biased(x, S::load(biases + c * kWidth));
      S::store(s + c * kWidth, x);
    }
  }

  static void add_biases(const Shaping& shaping, const float* biases, std::int64_t keys, float* s) {
    const F scale = S::splat(shaping.scale);
    for (std::int64_t c = 0; c < keys; ++c) {
      S::store(s + c * kWidth, biased(S::mul(S::load(s + c * kWidth), scale), S::load(biases + c * kWidth)));
    }
  }

  static void hide(const std::uint64_t* visible, std::int64_t lane, std::int64_t keys, float* s) {
    for (std::int64_t c = 0; c < keys; ++c) {
      const auto seen = S::from_bits(visible[c] >> lane);
      S::store(s + c * kWidth, S::select(seen, S::load(s + c * kWidth), S::splat(-kInfinity)));
    }
  }

  [[gnu::always_inline]] static F maximum(const float* s, std::int64_t keys) {
    F a = S::splat(-kInfinity);
    F b = a;
    std::int64_t c = 0;
    for (; c + 2 <= keys; c += 2) {
      a = S::max(a, S::load(s + c * kWidth));
      b = S::max(b, S::load(s + (c + 1) * kWidth));
    }
    if (c < keys) a = S::max(a, S::load(s + c * kWidth));
    return S::max(a, b);
  }

  [[gnu::always_inline]] static F weigh_lanes(std::int64_t keys, F to_log2, F shift, float* s) {
    F even = S::zero();
    F odd = S::zero();
    std::int64_t c = 0;
    for (; c + 2 <= keys; c += 2) {
      const F a = exp2<S>(S::mul(S::sub(S::load(s + c * kWidth), shift), to_log2));
      const F b = exp2<S>(S::mul(S::sub(S::load(s + (c + 1) * kWidth), shift), to_log2));
      S::store(s + c * kWidth, a);
      S::store(s + (c + 1) * kWidth, b);
      even = S::add(even, a);
      odd = S::add(odd, b);
    }
    if (c < keys) {
      const F a = exp2<S>(S::mul(S::sub(S::load(s + c * kWidth), shift), to_log2));
      S::store(s + c * kWidth, a);
      even = S::add(even, a);
    }
    return S::add(even, odd);
  }
};

}  // namespace qkv::kernels::cpu
