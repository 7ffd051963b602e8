// Floats as whole multiples of a unit, in digits of 8 bits.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// Below this no number is a multiple of a unit that is a float.
inline constexpr float kSmallestSplit = 0x1p-100F;

/// The unit of which the largest of `count` numbers is `multiples`; 0 if all are 0. Not finite where a number is not,
/// or where the largest is too small.
template <class S>
float unit_of(const float* row, std::int64_t count, float multiples) {
  __m512 largest = _mm512_setzero_ps();
  __m512 zeros = _mm512_setzero_ps();
  for (std::int64_t d = 0; d < count; d += S::kLanes) {
    const __m512 x = _mm512_loadu_ps(row + d);
    largest = _mm512_max_ps(largest, _mm512_abs_ps(x));
    zeros = _mm512_fmadd_ps(x, _mm512_setzero_ps(), zeros);
  }
  const float most = _mm512_reduce_max_ps(largest);
  if (most > 0 && most < kSmallestSplit) return std::numeric_limits<float>::quiet_NaN();
  return most / multiples + _mm512_reduce_add_ps(zeros);
}

/// Numbers share one unit, so the larger the largest, the fewer bits are left for the others. If the largest is more
/// than so many times the mean, products in f32 are more precise.
inline constexpr float kMostSpread = 16;

/// True if `count` numbers are finite and the largest, without its sign, is at most kMostSpread times the mean. Not
/// inlined: its callers have no registers to spare, and would be 4 % slower.
template <class S>
[[gnu::noinline]] bool are_alike(const float* row, std::int64_t count) {
  __m512 largest = _mm512_setzero_ps();
  __m512 sum = _mm512_setzero_ps();
  for (std::int64_t d = 0; d < count; d += S::kLanes) {
    const __m512 x = _mm512_abs_ps(_mm512_loadu_ps(row + d));
    largest = _mm512_max_ps(largest, x);
    sum = _mm512_add_ps(sum, x);
  }
  const float total = _mm512_reduce_add_ps(sum);
  const float most = _mm512_reduce_max_ps(largest) / kMostSpread * static_cast<float>(count);
  return most <= total && total <= std::numeric_limits<float>::max();
}

/// unit_of() of numbers that are alike; NaN for others.
template <class S>
float unit_of_alike(const float* row, std::int64_t count, float multiples) {
  return are_alike<S>(row, count) ? unit_of<S>(row, count, multiples) : std::numeric_limits<float>::quiet_NaN();
}

/// 16 numbers as whole multiples of a unit, which is above 0 or the numbers are all 0.
template <class S>
struct Digits {
  __m512i whole;

  [[gnu::always_inline]] Digits(__m512 x, float unit)
      : whole(_mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps(unit > 0 ? 1 / unit : 0)))) {}

  /// The n-th digit, from -128 to 127: what is left above is rounded to the nearest.
  [[gnu::always_inline]] void store(std::int64_t n, std::byte* to) const {
    __m512i rest = whole;
    for (std::int64_t below = 0; below < n; ++below) {
      rest = _mm512_srai_epi32(_mm512_add_epi32(rest, _mm512_set1_epi32(128)), 8);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(rest));
  }

  /// The n-th digit of numbers from 0 on, from 0 to 255.
  [[gnu::always_inline]] void store_unsigned(std::int64_t n, std::byte* to) const {
    const __m512i rest = _mm512_srli_epi32(whole, static_cast<unsigned>(8 * n));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(rest));
  }
};

/// to[r], fours l: the r-th elements of fours l of from[0] to from[3].
template <class S>
[[gnu::always_inline]] inline void turn_within_fours(const __m512 (&from)[4], __m512 (&to)[4]) {
  const __m512 low01 = _mm512_unpacklo_ps(from[0], from[1]);
  const __m512 low23 = _mm512_unpacklo_ps(from[2], from[3]);
  const __m512 high01 = _mm512_unpackhi_ps(from[0], from[1]);
  const __m512 high23 = _mm512_unpackhi_ps(from[2], from[3]);
  to[0] = _mm512_shuffle_ps(low01, low23, 0x44);
  to[1] = _mm512_shuffle_ps(low01, low23, 0xEE);
  to[2] = _mm512_shuffle_ps(high01, high23, 0x44);
  to[3] = _mm512_shuffle_ps(high01, high23, 0xEE);
}

/// to[l] = fours l of from[0] to from[3].
template <class S>
[[gnu::always_inline]] inline void turn_fours(const __m512 (&from)[4], __m512 (&to)[4]) {
  const __m512 low01 = _mm512_shuffle_f32x4(from[0], from[1], 0x44);
  const __m512 low23 = _mm512_shuffle_f32x4(from[2], from[3], 0x44);
  const __m512 high01 = _mm512_shuffle_f32x4(from[0], from[1], 0xEE);
  const __m512 high23 = _mm512_shuffle_f32x4(from[2], from[3], 0xEE);
  to[0] = _mm512_shuffle_f32x4(low01, low23, 0x88);
  to[1] = _mm512_shuffle_f32x4(low01, low23, 0xDD);
  to[2] = _mm512_shuffle_f32x4(high01, high23, 0x88);
  to[3] = _mm512_shuffle_f32x4(high01, high23, 0xDD);
}

/// rows[lane] = four lanes of 16 keys that are `width` floats apart.
template <class S>
[[gnu::always_inline]] inline void turn_four_lanes(const float* w, std::int64_t width, __m512 (&rows)[4]) {
  __m512 keys[4];
#pragma GCC unroll 4
  for (std::int64_t n = 0; n < 4; ++n) {  // keys n, n + 4, n + 8 and n + 12
    keys[n] = _mm512_broadcast_f32x4(_mm_loadu_ps(w + n * width));
    keys[n] = _mm512_mask_broadcast_f32x4(keys[n], 0x00F0, _mm_loadu_ps(w + (n + 4) * width));
    keys[n] = _mm512_mask_broadcast_f32x4(keys[n], 0x0F00, _mm_loadu_ps(w + (n + 8) * width));
    keys[n] = _mm512_mask_broadcast_f32x4(keys[n], 0xF000, _mm_loadu_ps(w + (n + 12) * width));
  }
  turn_within_fours<S>(keys, rows);
}

}  // namespace qkv::kernels::cpu
