// AVX-512 vectors of 16 floats. Included by this target's own translation unit only.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace qkv::kernels::cpu::avx512 {

struct Simd {
  using F = __m512;
  using M = __mmask16;
  static constexpr int kLanes = 16;
  static constexpr int kVectors = 4;  // of a strip: a product keeps kRows x kVectors sums in registers
  static constexpr int kRows = 6;
  static constexpr std::uint64_t kAllLanes = 0xFFFF;
  static constexpr bool kScalesByPowers = true;

  static F zero() { return _mm512_setzero_ps(); }
  static F splat(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  // b where either is NaN.
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F abs(F a) { return _mm512_abs_ps(a); }
  static F with_sign_of(F a, F sign) { return _mm512_or_ps(a, _mm512_and_ps(sign, _mm512_set1_ps(-0.0F))); }

  static M less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static M equal(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static bool any(M m) { return m != 0; }
  static F select(M m, F a, F b) { return _mm512_mask_blend_ps(m, b, a); }
  /// Lane n is bit n of `bits`.
  static M from_bits(std::uint64_t bits) { return static_cast<M>(bits); }
  static std::uint64_t to_bits(M m) { return m; }

  /// x - floor(x); 0 for an infinity.
  static F fraction(F x) { return _mm512_reduce_ps(x, 0x09); }
  /// p * 2^floor(x), rounded once; 0 for x below -126, since arithmetic on subnormal numbers takes a hundred times as
  /// long.
  static F scale_by_power(F p, F x) {
    const __mmask16 normal = _mm512_cmp_ps_mask(x, splat(-126.0F), _CMP_NLT_UQ);
    return _mm512_maskz_scalef_ps(normal, p, x);
  }

  static F load_bf16(const std::uint16_t* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static F load_f16(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static F load_i8(const std::int8_t* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static void store_bf16(std::uint16_t* p, F x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF))), 16);
    const __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(_mm512_mask_blend_epi32(nan, rounded, quiet)));
  }
  static void store_f16(std::uint16_t* p, F x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }

  /// Lane n is x[(n + step) % kLanes].
  static F rotated(F x, int step) {
    return _mm512_permutexvar_ps(_mm512_add_epi32(lane_numbers(), _mm512_set1_epi32(step)), x);
  }
  /// Lane n is x[n % width], for a power of two.
  static F repeated(F x, int width) {
    return _mm512_permutexvar_ps(_mm512_and_si512(lane_numbers(), _mm512_set1_epi32(width - 1)), x);
  }
  static __m512i lane_numbers() { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }

  /// Lane n is the sum of rows[n].
  [[gnu::always_inline]] static F sums(const F (&rows)[kLanes]) {
    F t[kLanes / 2];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
      const F low = _mm512_shuffle_ps(rows[r], rows[r + 8], 0x44);
      const F high = _mm512_shuffle_ps(rows[r], rows[r + 8], 0xEE);
      t[r] = _mm512_add_ps(low, high);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const F even = _mm512_shuffle_ps(t[r], t[r + 4], 0x88);
      const F odd = _mm512_shuffle_ps(t[r], t[r + 4], 0xDD);
      t[r] = _mm512_add_ps(even, odd);
    }
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r) {
      const F low = _mm512_shuffle_f32x4(t[r], t[r + 2], 0x88);
      const F high = _mm512_shuffle_f32x4(t[r], t[r + 2], 0xDD);
      t[r] = _mm512_add_ps(low, high);
    }
    const F low = _mm512_shuffle_f32x4(t[0], t[1], 0x88);
    const F high = _mm512_shuffle_f32x4(t[0], t[1], 0xDD);
    const __m512i order = _mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
    return _mm512_permutexvar_ps(order, _mm512_add_ps(low, high));
  }

  static void transpose(F (&rows)[kLanes]) {
    F t[kLanes];
    for (int r = 0; r < 16; r += 2) {
      t[r] = _mm512_unpacklo_ps(rows[r], rows[r + 1]);
      t[r + 1] = _mm512_unpackhi_ps(rows[r], rows[r + 1]);
    }
    for (int r = 0; r < 16; r += 4) {
      rows[r] = _mm512_shuffle_ps(t[r], t[r + 2], 0x44);
      rows[r + 1] = _mm512_shuffle_ps(t[r], t[r + 2], 0xEE);
      rows[r + 2] = _mm512_shuffle_ps(t[r + 1], t[r + 3], 0x44);
      rows[r + 3] = _mm512_shuffle_ps(t[r + 1], t[r + 3], 0xEE);
    }
    for (int r = 0; r < 4; ++r) {
      t[r] = _mm512_shuffle_f32x4(rows[r], rows[r + 4], 0x88);
      t[r + 4] = _mm512_shuffle_f32x4(rows[r], rows[r + 4], 0xDD);
      t[r + 8] = _mm512_shuffle_f32x4(rows[r + 8], rows[r + 12], 0x88);
      t[r + 12] = _mm512_shuffle_f32x4(rows[r + 8], rows[r + 12], 0xDD);
    }
    for (int r = 0; r < 4; ++r) {
      rows[r] = _mm512_shuffle_f32x4(t[r], t[r + 8], 0x88);
      rows[r + 8] = _mm512_shuffle_f32x4(t[r], t[r + 8], 0xDD);
      rows[r + 4] = _mm512_shuffle_f32x4(t[r + 4], t[r + 12], 0x88);
      rows[r + 12] = _mm512_shuffle_f32x4(t[r + 4], t[r + 12], 0xDD);
    }
  }

  // 32-bit integers, for the random numbers of dropout.
  using U = __m512i;
  static U splat_u32(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static U load_u32(const std::uint32_t* p) { return _mm512_loadu_si512(p); }
  static U exclusive_or(U a, U b) { return _mm512_xor_si512(a, b); }
  static U multiply_low(U a, U b) { return _mm512_mullo_epi32(a, b); }
  static U multiply_high(U a, U b) {
    const U even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
    const U odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_blend_epi32(0xAAAA, even, odd);
  }
  static M at_least(U a, U b) { return _mm512_cmpge_epu32_mask(a, b); }
};

}  // namespace qkv::kernels::cpu::avx512
