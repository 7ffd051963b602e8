// The softmax of a tile's scores that lie dense, [key][width] for a few lanes, so that a vector holds several keys.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/softmax.h"

namespace qkv::kernels::cpu {

/// `width` is a power of two below the lanes of a vector. Lanes from there on of a running softmax are of no use.
template <class S>
class DenseSoftmax {
  using F = typename S::F;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

 public:
  DenseSoftmax(std::int64_t width, float to_log2) : width_(width), to_log2_(to_log2) {}

  /// Gives keys that a vector has beyond the last a score of -inf.
  void pad(std::int64_t keys, float* s) const {
    for (std::int64_t n = keys * width_; n < round_up(keys * width_, S::kLanes); ++n) s[n] = -kInfinity;
  }

  /// As TileSoftmax::raise(); `slack` is in powers of two.
  bool raise(const float* s, std::int64_t keys, float slack, Running& running, float* factors) const {
    F top = S::splat(-kInfinity);
    for (std::int64_t n = 0; n < keys * width_; n += S::kLanes) top = S::max(top, S::load(s + n));
    top = over_keys(top, [](F a, F b) { return S::max(a, b); });
    const F old = repeated(running.maximum);
    const auto higher = S::less(S::splat(slack / to_log2_), S::sub(top, old));
    if (!S::any(higher)) return false;
    const F factor = S::select(higher, exp2<S>(S::mul(S::sub(old, top), S::splat(to_log2_))), S::splat(1.0F));
    S::store(running.maximum, S::select(higher, top, old));
    S::store(running.sum, S::mul(S::load(running.sum), factor));
    S::store(factors, factor);
    return true;
  }

  /// Turns scores into weights, and adds them to the running sums.
  void weigh(std::int64_t keys, Running& running, float* s) const {
    const F top = repeated(running.maximum);
    const F shift = S::select(S::equal(top, S::splat(-kInfinity)), S::zero(), top);
    const F factor = S::splat(to_log2_);
    const F scaled = S::mul(shift, factor);
    F total;
    if (S::any(S::less(S::splat(kLargestFused), S::abs(scaled)))) {
      total = weigh_all(keys, s, [&](F x) { return S::mul(S::sub(x, shift), factor); });
    } else {
      const F minus = S::sub(S::zero(), scaled);
      total = weigh_all(keys, s, [&](F x) { return S::fma(x, factor, minus); });
    }
    total = over_keys(total, [](F a, F b) { return S::add(a, b); });
    S::store(running.sum, S::add(S::load(running.sum), total));
  }

 private:
  template <class Exponent>
  F weigh_all(std::int64_t keys, float* s, const Exponent& exponent) const {
    const std::int64_t count = round_up(keys * width_, S::kLanes);
    F even = S::zero();
    F odd = S::zero();
    std::int64_t n = 0;
    for (; n + 2 * S::kLanes <= count; n += 2 * S::kLanes) {
      const F a = exp2<S>(exponent(S::load(s + n)));
      const F b = exp2<S>(exponent(S::load(s + n + S::kLanes)));
      S::store(s + n, a);
      S::store(s + n + S::kLanes, b);
      even = S::add(even, a);
      odd = S::add(odd, b);
    }
    if (n < count) {
      const F a = exp2<S>(exponent(S::load(s + n)));
      S::store(s + n, a);
      even = S::add(even, a);
    }
    return S::add(even, odd);
  }

  // The first `width` floats, again and again.
  F repeated(const float* lanes) const {
    if constexpr (requires { S::repeated(F{}, 1); }) return S::repeated(S::load(lanes), static_cast<int>(width_));
    alignas(64) float all[S::kLanes];
    for (std::int64_t n = 0; n < S::kLanes; ++n) all[n] = lanes[n & (width_ - 1)];
    return S::load(all);
  }

  // In every key's place what `join` makes of all of them.
  template <class Join>
  F over_keys(F x, const Join& join) const {
    for (std::int64_t step = width_; step < S::kLanes; step *= 2) x = join(x, rotated(x, step));
    return x;
  }

  static F rotated(F x, std::int64_t step) {
    if constexpr (requires { S::rotated(x, 1); }) return S::rotated(x, static_cast<int>(step));
    alignas(64) float twice[2 * S::kLanes];
    S::store(twice, x);
    S::store(twice + S::kLanes, x);
    return S::load(twice + step);
  }

  std::int64_t width_;
  float to_log2_;
};

}  // namespace qkv::kernels::cpu
