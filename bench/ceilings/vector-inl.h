// Vectors of QKV_VECTOR_BYTES bytes, for the files that are compiled once for each instruction set.
#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <cstring>

namespace qkv::bench::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

constexpr std::int64_t kWidth = QKV_VECTOR_BYTES;
constexpr std::int64_t kLanes = kWidth / 4;

using Floats = float __attribute__((vector_size(kWidth)));
using Ints = std::int32_t __attribute__((vector_size(kWidth)));
using Words = std::uint64_t __attribute__((vector_size(kWidth)));

inline Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void store(float* to, Floats value) { std::memcpy(to, &value, sizeof(value)); }

inline Floats splat(float value) { return value - Floats{}; }

// Minimax polynomials of degree 5 for 2^f, f in a range as wide as 1: relative error 7.5e-8 before rounding.
#if defined(__AVX512DQ__)

// scalef takes the whole part of x by itself, reduce the fraction in [0, 1): no clamp, no rounding, no shift.
inline Floats exp2_of(Floats x) {
  const Floats f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  Floats p = f * 1.877576658e-3F + 8.989340131e-3F;
  p = p * f + 5.582631802e-2F;
  p = p * f + 2.401536171e-1F;
  p = p * f + 6.931530732e-1F;  // NOLINT(modernize-use-std-numbers): fitted
  return _mm512_scalef_ps(p * f + 1.0F, x);
}

#else

// 2^x = 2^n 2^f, n the nearest whole number: adding 1.5 * 2^23 leaves n in the low bits, f is in [-1/2, 1/2].
inline Floats exp2_of(Floats x) {
  constexpr float kRound = 0x1.8p23F;
  x = x > -126.0F ? x : splat(-126.0F);
  const Floats rounded = x + kRound;
  const Floats f = x - (rounded - kRound);
  Floats p = f * 1.327647187e-3F + 9.675541333e-3F;
  p = p * f + 5.550713274e-2F;
  p = p * f + 2.402211972e-1F;
  p = p * f + 6.931469671e-1F;
  p = p * f + 1.0F;
  return std::bit_cast<Floats>(std::bit_cast<Ints>(p) + (std::bit_cast<Ints>(rounded) << 23));
}

#endif

}  // namespace
}  // namespace qkv::bench::QKV_LOOPS
