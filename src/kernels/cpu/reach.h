// Which keys of a tile a strip of lanes sees: of a tile on the diagonal, or at the edge of a window, no others are
// computed.
#pragma once

#include <cstdint>

#include "kernels/tile.h"
#include "qkv/mask.h"

namespace qkv::kernels::cpu {

/// The keys of a tile that the lanes of each strip may see, beginning at a multiple of keys_a_step(): scores of others
/// are neither made nor read.
template <class S, std::int64_t kWidth>
struct Reach {
  static constexpr std::int64_t kStrips = kTile / kWidth;

  /// All of the tile's keys.
  Reach(std::int64_t keys) {  // NOLINT(google-explicit-constructor): as a count
    for (KeyRange& strip : strips) strip = {0, keys};
  }

  /// What `visible` has, bit n of word c for lane n and key c.
  static Reach of(const std::uint64_t* visible, std::int64_t keys) {
    constexpr std::uint64_t kLanes = kWidth >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kWidth % 64) - 1;
    Reach reach(0);
    for (std::int64_t n = 0; n < kStrips; ++n) {
      const auto sees = [&](std::int64_t c) { return (visible[c] >> n * kWidth & kLanes) != 0; };
      std::int64_t begin = 0;
      std::int64_t end = keys;
      while (end > 0 && !sees(end - 1)) --end;
      while (begin < end && !sees(begin)) ++begin;
      reach.strips[n] = {begin - begin % keys_a_step(), end};
    }
    return reach;
  }

  [[nodiscard, gnu::always_inline]] const KeyRange& operator[](std::int64_t lane) const {
    return strips[lane / kWidth];
  }

  /// How many keys one step of the product with the values sums over.
  static constexpr std::int64_t keys_a_step() {
    if constexpr (requires { S::kKeysAStep; }) return S::kKeysAStep;
    return 2;
  }

  KeyRange strips[kStrips];
};

}  // namespace qkv::kernels::cpu
