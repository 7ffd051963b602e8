// The blocks of each type as products take them: whole numbers of 8 bits, and scales and minima in f32. Layouts as in
// core/block_type.cc. Compiled once per target: S is the target's.
#pragma once

#include "core/block_type.h"
#include "kernels/product/quantised_vectors.h"

namespace qkv::kernels::quantised {

using core::BlockType;

/// Blocks<S, type> has, for a chunk of 256 numbers, or what a row has left of one:
///   kBytes                    of a chunk
///   kIsSmall                  blocks are of 32, so a row may have less than a chunk left
///   kGroups                   scales of each 32 numbers: 1 or 2
///   kSigned                   numbers have a sign; else they are from 0 to 127
///   kHasLeast                 something is added to scale times number: minima
///   scales(at, count, scale, least)    those of its first `count` times 32 numbers, and zeros
///   numbers(at, n)            numbers 32 n to 32 n + 31
///   halves(at, n, low, high)  where is_of_halves(): of blocks 2 n and 2 n + 1 the first 16 numbers, and the last
template <class S, BlockType kType>
struct Blocks;

namespace bits {

[[gnu::always_inline]] inline std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{low} | std::uint64_t{high} << 32U;
}

// Compilers have no shift of bytes: words are shifted, and what a byte got from its neighbour is masked out.

/// Bits `by` and those above it of each byte, as far as `kMask` lets them.
template <std::uint8_t kMask>
[[gnu::always_inline]] inline Bytes low_bits(const Bytes& x, int by) {
  const Words shifted = load<Words>(&x) >> static_cast<std::uint32_t>(by);
  return load<Bytes>(&shifted) & kMask;
}

/// Bytes below 2^(8 - by).
[[gnu::always_inline]] inline Bytes raised(const Bytes& x, int by) {
  const Words shifted = load<Words>(&x) << static_cast<std::uint32_t>(by);
  return load<Bytes>(&shifted);
}

/// The low four bits of 16 bytes, then the high ones.
[[gnu::always_inline]] inline Bytes nibbles(const std::uint8_t* from) {
  constexpr Words kShifts = {0, 0, 0, 0, 4, 4, 4, 4};
  const Bytes both = twice(from);
  const Words shifted = load<Words>(&both) >> kShifts;
  return load<Bytes>(&shifted) & 15;
}

/// The low four bits of 16 bytes and of 16 others, and their high ones.
[[gnu::always_inline]] inline void halves(const std::uint8_t* first, const std::uint8_t* second, Bytes& low,
                                          Bytes& high) {
  const auto a = load<HalfOfBytes>(first);
  const auto b = load<HalfOfBytes>(second);
  const Bytes both = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                             20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  low = both & 15;
  high = low_bits<15>(both, 4);
}

/// 16 in byte n where bit n is set.
[[gnu::always_inline]] inline Bytes sixteens(const std::uint8_t* from) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  const Words all = Words{} + word;
  const auto bytes = load<Bytes>(&all);
  const Bytes spread = __builtin_shufflevector(bytes, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18,
                                               18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19);
  constexpr Bytes kBits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
                           1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto set = (spread & kBits) == kBits;
  return load<Bytes>(&set) & 16;
}

/// The f16 scale of each of `count` blocks that begin kStride bytes apart.
template <class S, std::int64_t kStride>
[[gnu::always_inline]] inline Floats f16_scales(const std::uint8_t* first, int count) {
  if (count == 1) return Floats{S::half(first)};
  if (count == 2) return Floats{S::half(first), S::half(first + kStride)};
  std::uint16_t all[kBlocks] = {};
#pragma GCC unroll 8
  for (int n = 0; n < count; ++n) std::memcpy(all + n, first + n * kStride, sizeof(*all));
  return S::widened(all);
}

inline constexpr std::uint32_t kSix = 0x3F3F3F3FU;
inline constexpr std::uint32_t kFour = 0x0F0F0F0FU;
inline constexpr std::uint32_t kTwo = 0x03030303U;

[[gnu::always_inline]] inline std::uint32_t word(const std::uint8_t* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

/// Scales and minima of 6 bits, of 8 groups in 12 bytes.
[[gnu::always_inline]] inline std::uint64_t scales_of_six_bits(const std::uint8_t* at) {
  return joined(word(at) & kSix, (word(at + 8) & kFour) | (word(at) >> 6U & kTwo) << 4U);
}

[[gnu::always_inline]] inline std::uint64_t minima_of_six_bits(const std::uint8_t* at) {
  return joined(word(at + 4) & kSix, (word(at + 8) >> 4U & kFour) | (word(at + 4) >> 6U & kTwo) << 4U);
}

/// Two bits of 32 numbers, of the runs of 32 in 64 bytes.
[[gnu::always_inline]] inline Bytes pairs(const std::uint8_t* at, int n) {
  return low_bits<3>(load<Bytes>(at + n / 4 * 32), n % 4 * 2);
}

}  // namespace bits

/// What blocks of 32 share: `kScale` and `kNumbers` are places in a block of `kSize` bytes.
template <class S, std::int64_t kSize>
struct Small {
  static constexpr bool kIsSmall = true;
  static constexpr std::int64_t kBytes = kSize * kBlocks;
  static constexpr int kGroups = 1;
  static constexpr bool kSigned = false;
  static constexpr bool kHasLeast = true;

  // scale times (number - kZero)
  template <int kZero>
  [[gnu::always_inline]] static void scales_around(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    *scale = bits::f16_scales<S, kSize>(at, count);
    *least = *scale * static_cast<float>(-kZero);
  }
  [[gnu::always_inline]] static void scales_and_minima(const std::uint8_t* at, int count, Floats* scale,
                                                       Floats* least) {
    *scale = bits::f16_scales<S, kSize>(at, count);
    *least = bits::f16_scales<S, kSize>(at + 2, count);
  }
};

template <class S>
struct Blocks<S, BlockType::q4_0> : Small<S, 18> {
  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    Small<S, 18>::template scales_around<8>(at, count, scale, least);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) { return bits::nibbles(at + n * 18 + 2); }
  [[gnu::always_inline]] static void halves(const std::uint8_t* at, int n, Bytes& low, Bytes& high) {
    bits::halves(at + n * 36 + 2, at + n * 36 + 20, low, high);
  }
};

template <class S>
struct Blocks<S, BlockType::q4_1> : Small<S, 20> {
  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    Small<S, 20>::scales_and_minima(at, count, scale, least);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) { return bits::nibbles(at + n * 20 + 4); }
  [[gnu::always_inline]] static void halves(const std::uint8_t* at, int n, Bytes& low, Bytes& high) {
    bits::halves(at + n * 40 + 4, at + n * 40 + 24, low, high);
  }
};

template <class S>
struct Blocks<S, BlockType::q5_0> : Small<S, 22> {
  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    Small<S, 22>::template scales_around<16>(at, count, scale, least);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return bits::nibbles(at + n * 22 + 6) | bits::sixteens(at + n * 22 + 2);
  }
};

template <class S>
struct Blocks<S, BlockType::q5_1> : Small<S, 24> {
  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    Small<S, 24>::scales_and_minima(at, count, scale, least);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return bits::nibbles(at + n * 24 + 8) | bits::sixteens(at + n * 24 + 4);
  }
};

template <class S>
struct Blocks<S, BlockType::q8_0> : Small<S, 34> {
  static constexpr bool kSigned = true;
  static constexpr bool kHasLeast = false;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* /*least*/) {
    *scale = bits::f16_scales<S, 34>(at, count);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) { return load<Bytes>(at + n * 34 + 2); }
};

template <class S>
struct Blocks<S, BlockType::iq4_nl> : Small<S, 18> {
  static constexpr bool kSigned = true;
  static constexpr bool kHasLeast = false;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* /*least*/) {
    *scale = bits::f16_scales<S, 18>(at, count);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return S::uneven(bits::nibbles(at + n * 18 + 2));
  }
  [[gnu::always_inline]] static void halves(const std::uint8_t* at, int n, Bytes& low, Bytes& high) {
    bits::halves(at + n * 36 + 2, at + n * 36 + 20, low, high);
    low = S::uneven(low);
    high = S::uneven(high);
  }
};

template <class S>
struct Blocks<S, BlockType::mxfp4> : Small<S, 17> {
  static constexpr bool kSigned = true;
  static constexpr bool kHasLeast = false;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* /*least*/) {
    float all[kBlocks] = {};
    for (int n = 0; n < count; ++n) all[n] = core::half_of_power(at[n * 17]);
    *scale = load<Floats>(all);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return S::twice_floats(bits::nibbles(at + n * 17 + 1));
  }
};

/// What blocks of 256 share.
template <int kGroupsOf32, bool kLeast>
struct Large {
  static constexpr bool kIsSmall = false;
  static constexpr int kGroups = kGroupsOf32;
  static constexpr bool kSigned = false;
  static constexpr bool kHasLeast = kLeast;
};

template <class S>
struct Blocks<S, BlockType::q2_k> : Large<2, true> {
  static constexpr std::int64_t kBytes = 84;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int /*count*/, Floats* scale, Floats* least) {
    const float d = S::half(at + 80);
    const float m = S::half(at + 82);
    for (int n = 0; n < 2; ++n) {
      const auto both = load<std::uint64_t>(at + 8 * n);
      const std::uint64_t four = bits::joined(bits::kFour, bits::kFour);
      scale[n] = S::floats_of(both & four) * d;
      least[n] = S::floats_of(both >> 4U & four) * -m;
    }
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) { return bits::pairs(at + 16, n); }
};

template <class S>
struct Blocks<S, BlockType::q3_k> : Large<2, true> {
  static constexpr std::int64_t kBytes = 110;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int /*count*/, Floats* scale, Floats* least) {
    const float d = S::half(at + 108);
    const std::uint32_t high = bits::word(at + 104);
    for (unsigned n = 0; n < 2; ++n) {
      const std::uint32_t first = (bits::word(at + 96) >> 4 * n & bits::kFour) | (high >> 4 * n & bits::kTwo) << 4U;
      const std::uint32_t second = (bits::word(at + 100) >> 4 * n & bits::kFour) | (high >> (4 * n + 2) & bits::kTwo)
                                                                                       << 4U;
      scale[n] = (S::floats_of(bits::joined(first, second)) - 32) * d;
      least[n] = scale[n] * -4;
    }
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return bits::pairs(at + 32, n) | bits::raised(bits::low_bits<1>(load<Bytes>(at), n), 2);
  }
};

template <class S>
struct Blocks<S, BlockType::q4_k> : Large<1, true> {
  static constexpr std::int64_t kBytes = 144;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int /*count*/, Floats* scale, Floats* least) {
    *scale = S::floats_of(bits::scales_of_six_bits(at + 4)) * S::half(at);
    *least = S::floats_of(bits::minima_of_six_bits(at + 4)) * -S::half(at + 2);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return bits::low_bits<15>(load<Bytes>(at + 16 + n / 2 * 32), n % 2 * 4);
  }
};

template <class S>
struct Blocks<S, BlockType::q5_k> : Large<1, true> {
  static constexpr std::int64_t kBytes = 176;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int count, Floats* scale, Floats* least) {
    Blocks<S, BlockType::q4_k>::scales(at, count, scale, least);
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return bits::low_bits<15>(load<Bytes>(at + 48 + n / 2 * 32), n % 2 * 4) |
           bits::raised(bits::low_bits<1>(load<Bytes>(at + 16), n), 4);
  }
};

template <class S>
struct Blocks<S, BlockType::q6_k> : Large<2, true> {
  static constexpr std::int64_t kBytes = 210;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int /*count*/, Floats* scale, Floats* least) {
    const float d = S::half(at + 208);
    for (int n = 0; n < 2; ++n) {
      scale[n] = S::signed_floats_of(load<std::uint64_t>(at + 192 + 8 * n)) * d;
      least[n] = scale[n] * -32;
    }
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    const Bytes low = bits::low_bits<15>(load<Bytes>(at + n / 4 * 64 + n % 2 * 32), n % 4 / 2 * 4);
    return low | bits::raised(bits::pairs(at + 128, n), 4);
  }
};

template <class S>
struct Blocks<S, BlockType::iq4_xs> : Large<1, false> {
  static constexpr std::int64_t kBytes = 136;
  static constexpr bool kSigned = true;

  [[gnu::always_inline]] static void scales(const std::uint8_t* at, int /*count*/, Floats* scale, Floats* /*least*/) {
    const float d = S::half(at);
    const auto high = load<std::uint16_t>(at + 2);
    std::uint64_t all = 0;
    for (unsigned n = 0; n < kBlocks; ++n) {
      const std::uint64_t six = (at[4 + n / 2] >> n % 2 * 4 & 15U) | (high >> 2 * n & 3U) << 4U;
      all |= six << 8 * n;
    }
    *scale = (S::floats_of(all) - 32) * d;
  }
  [[gnu::always_inline]] static Bytes numbers(const std::uint8_t* at, int n) {
    return S::uneven(bits::nibbles(at + 8 + n * 16));
  }
};

}  // namespace qkv::kernels::quantised
