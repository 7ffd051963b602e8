// The vectors of 256 bits in which quantised products are written. A target's file is compiled with its own flags, so
// nothing here is a function that two of them could share.
#pragma once

#include <cstdint>
#include <cstring>

namespace qkv::kernels::quantised {

using Bytes = std::uint8_t __attribute__((vector_size(32)));
using SignedBytes = std::int8_t __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));

using Twos = std::uint16_t __attribute__((vector_size(32)));  // of bytes
using FourFloats = float __attribute__((vector_size(16)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
using HalfOfBytes = std::uint8_t __attribute__((vector_size(16)));

inline constexpr std::int64_t kBlock = 32;   // numbers of x and the weight that are multiplied at a time
inline constexpr std::int64_t kChunk = 256;  // numbers that are prepared at a time
inline constexpr int kBlocks = kChunk / kBlock;

template <class Vector>
[[gnu::always_inline]] inline Vector load(const void* from) {
  Vector value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class Vector>
[[gnu::always_inline]] inline void store(void* to, const Vector& value) {
  std::memcpy(to, &value, sizeof(value));
}

[[gnu::always_inline]] inline Floats to_floats(const Ints& x) {
#if defined(__AVX2__)
  return __builtin_convertvector(x, Floats);
#else
  // GCC 12 would convert number after number.
  FourInts halves[2];
  std::memcpy(halves, &x, sizeof(x));
  const FourFloats both[2] = {__builtin_convertvector(halves[0], FourFloats),
                              __builtin_convertvector(halves[1], FourFloats)};
  return load<Floats>(both);
#endif
}

[[gnu::always_inline]] inline Floats splat(float x) { return Floats{x, x, x, x, x, x, x, x}; }

/// 16 bytes, and those again.
[[gnu::always_inline]] inline Bytes twice(const void* from) {
  const auto half = load<HalfOfBytes>(from);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6,
                                 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/// Eight rows of eight become eight columns.
template <class Vector>
[[gnu::always_inline]] inline void transpose(Vector (&x)[8]) {
  Vector pairs[8];
#pragma GCC unroll 4
  for (int n = 0; n < 8; n += 2) {
    pairs[n] = __builtin_shufflevector(x[n], x[n + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[n + 1] = __builtin_shufflevector(x[n], x[n + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Vector fours[8];
#pragma GCC unroll 2
  for (int n = 0; n < 8; n += 4) {
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const Vector& a = pairs[n + k];
      const Vector& b = pairs[n + k + 2];
      fours[n + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[n + 2 * k + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
#pragma GCC unroll 4
  for (int n = 0; n < 4; ++n) {
    x[n] = __builtin_shufflevector(fours[n], fours[n + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[n + 4] = __builtin_shufflevector(fours[n], fours[n + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// The halves of a vector added, again and again.
[[gnu::always_inline]] inline float sum_of(const Floats& x) {
  const auto four = __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
  const auto two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
  return two[0] + two[1];
}

}  // namespace qkv::kernels::quantised
