// The softmax of a tile's scores that lie dense, [key][width] for a few lanes, so that a vector holds several keys.
#pragma once

#include <cstdint>

#include "kernels/cpu/softmax.h"

namespace qkv::kernels::cpu {

/// `width` is a power of two below the lanes of a vector. Its steps are those of TileSoftmax, with a vector in the
/// place of a key; what it finds for each place of a vector is then joined for each lane. Lanes from `width` on of a
/// running softmax are of no use.
template <class S>
class DenseSoftmax {
  using F = typename S::F;
  using Softmax = TileSoftmax<S, S::kLanes>;

 public:
  /// Of `keys` keys. Those that the last vector has beyond them get a score of -inf.
  DenseSoftmax(std::int64_t keys, std::int64_t width, float to_log2, float* s)
      : vectors_(round_up(keys * width, S::kLanes) / S::kLanes), width_(width), to_log2_(to_log2), s_(s) {
    for (std::int64_t n = keys * width; n < vectors_ * S::kLanes; ++n) s[n] = -Softmax::kInfinity;
  }

  /// As TileSoftmax::raise().
  bool raise(float slack, Running& running, float* factors) const {
    S::store(running.maximum, repeated(running.maximum));
    const F top = over_keys(Softmax::maximum(s_, {0, vectors_}), [](F a, F b) { return S::max(a, b); });
    return Softmax::raise_lanes(top, 0, to_log2_, slack, running, factors);
  }

  /// Turns scores into weights, and adds them to the running sums. To be called after raise().
  void weigh(Running& running) const {
    const F before = S::load(running.sum);
    S::store(running.sum, S::zero());
    Softmax::weigh(s_, vectors_, S::kLanes, to_log2_, running, InPlace<S, S::kLanes>{s_});
    const F total = over_keys(S::load(running.sum), [](F a, F b) { return S::add(a, b); });
    S::store(running.sum, S::add(before, total));
  }

 private:
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

  std::int64_t vectors_;
  std::int64_t width_;
  float to_log2_;
  float* s_;
};

}  // namespace qkv::kernels::cpu
