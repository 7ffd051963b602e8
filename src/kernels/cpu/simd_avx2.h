// AVX2 with FMA and F16C: vectors of 8 floats. Included by this target's own translation unit only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace qkv::kernels::cpu::avx2 {

struct Simd {
  using F = __m256;
  using M = __m256;  // all bits of a lane, or none
  static constexpr int kLanes = 8;
  static constexpr int kVectors = 2;
  static constexpr int kRows = 6;
  static constexpr std::uint64_t kAllLanes = 0xFF;
  static constexpr bool kScalesByPowers = false;

  /// Keeps GCC from loading x once more for each of its uses.
  static void keep(F& x) { asm("" : "+x"(x)); }

  static F zero() { return _mm256_setzero_ps(); }
  static F splat(float x) { return _mm256_set1_ps(x); }
  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F div(F a, F b) { return _mm256_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  // b where either is NaN.
  static F max(F a, F b) { return _mm256_max_ps(a, b); }
  static F min(F a, F b) { return _mm256_min_ps(a, b); }
  static F abs(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a); }
  static F with_sign_of(F a, F sign) { return _mm256_or_ps(a, _mm256_and_ps(sign, _mm256_set1_ps(-0.0F))); }

  static M less(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static M equal(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static bool any(M m) { return _mm256_movemask_ps(m) != 0; }
  static F select(M m, F a, F b) { return _mm256_blendv_ps(b, a, m); }
  /// Lane n is bit n of `bits`.
  static M from_bits(std::uint64_t bits) {
    const __m256i lane_bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i spread = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits & 0xFFU)), lane_bit);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(spread, lane_bit));
  }
  static std::uint64_t to_bits(M m) { return static_cast<std::uint64_t>(_mm256_movemask_ps(m)); }

  /// The float whose exponent field is the low eight bits of x's mantissa.
  static F exponent_from_mantissa(F x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23)); }

  static F load_bf16(const std::uint16_t* p) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static F load_f16(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F load_i8(const std::int8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static void store_bf16(std::uint16_t* p, F x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
    const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i chosen = _mm256_blendv_epi8(rounded, quiet, nan);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(chosen, chosen), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
  }
  static void store_f16(std::uint16_t* p, F x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }

  /// Lane n is x[(n + step) % kLanes].
  static F rotated(F x, int step) {
    return _mm256_permutevar8x32_ps(x, _mm256_add_epi32(lane_numbers(), _mm256_set1_epi32(step)));
  }
  /// Lane n is x[n % width], for a power of two.
  static F repeated(F x, int width) {
    return _mm256_permutevar8x32_ps(x, _mm256_and_si256(lane_numbers(), _mm256_set1_epi32(width - 1)));
  }
  static __m256i lane_numbers() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

  /// Lane n is the sum of rows[n].
  [[gnu::always_inline]] static F sums(const F (&rows)[kLanes]) {
    F t[kLanes / 2];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const F low = _mm256_shuffle_ps(rows[r], rows[r + 4], 0x44);
      const F high = _mm256_shuffle_ps(rows[r], rows[r + 4], 0xEE);
      t[r] = _mm256_add_ps(low, high);
    }
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r) {
      const F even = _mm256_shuffle_ps(t[r], t[r + 2], 0x88);
      const F odd = _mm256_shuffle_ps(t[r], t[r + 2], 0xDD);
      t[r] = _mm256_add_ps(even, odd);
    }
    const F both = _mm256_add_ps(_mm256_permute2f128_ps(t[0], t[1], 0x20), _mm256_permute2f128_ps(t[0], t[1], 0x31));
    return _mm256_permutevar8x32_ps(both, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
  }

  static void transpose(F (&rows)[kLanes]) {
    F t[kLanes];
    for (int r = 0; r < 8; r += 2) {
      t[r] = _mm256_unpacklo_ps(rows[r], rows[r + 1]);
      t[r + 1] = _mm256_unpackhi_ps(rows[r], rows[r + 1]);
    }
    for (int r = 0; r < 8; r += 4) {
      rows[r] = _mm256_shuffle_ps(t[r], t[r + 2], 0x44);
      rows[r + 1] = _mm256_shuffle_ps(t[r], t[r + 2], 0xEE);
      rows[r + 2] = _mm256_shuffle_ps(t[r + 1], t[r + 3], 0x44);
      rows[r + 3] = _mm256_shuffle_ps(t[r + 1], t[r + 3], 0xEE);
    }
    for (int r = 0; r < 4; ++r) {
      t[r] = _mm256_permute2f128_ps(rows[r], rows[r + 4], 0x20);
      t[r + 4] = _mm256_permute2f128_ps(rows[r], rows[r + 4], 0x31);
    }
    for (int r = 0; r < 8; ++r) rows[r] = t[r];
  }

  // 32-bit integers, for the random numbers of dropout.
  using U = __m256i;
  static U splat_u32(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static U load_u32(const std::uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static U exclusive_or(U a, U b) { return _mm256_xor_si256(a, b); }
  static U multiply_low(U a, U b) { return _mm256_mullo_epi32(a, b); }
  static U multiply_high(U a, U b) {
    const U even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
    const U odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_blend_epi32(even, odd, 0xAA);
  }
  static M at_least(U a, U b) { return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a)); }
};

}  // namespace qkv::kernels::cpu::avx2
