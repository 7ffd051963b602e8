// The operations of quantised products in AVX2, for targets that have it. Included by their own files only.
#pragma once

#include <immintrin.h>

#include "kernels/product/quantised_vectors.h"

namespace qkv::kernels::quantised {

/// `Own` is a type of the target's namespace, whose functions these are.
template <class Own>
struct Avx2 {
  static constexpr bool kUnrolls = true;

  /// 8 numbers of f16 as f32.
  [[gnu::always_inline]] static Floats widened(const std::uint16_t* halves) {
    return (Floats)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(halves)));
  }

  /// One, at any place.
  [[gnu::always_inline]] static float half(const void* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    return _cvtsh_ss(bits);
  }

  /// The eight bytes of a word, without and with a sign.
  [[gnu::always_inline]] static Floats floats_of(std::uint64_t eight) {
    return (Floats)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<std::int64_t>(eight))));
  }
  [[gnu::always_inline]] static Floats signed_floats_of(std::uint64_t eight) {
    return (Floats)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(static_cast<std::int64_t>(eight))));
  }

  /// The numbers that IQ4_NL and IQ4_XS mean by 0 to 15.
  [[gnu::always_inline]] static Bytes uneven(const Bytes& x) {
    const __m256i values =
        _mm256_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,  //
                         -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    return (Bytes)_mm256_shuffle_epi8(values, (__m256i)x);
  }
  /// Twice the floats of four bits that MXFP4 has.
  [[gnu::always_inline]] static Bytes twice_floats(const Bytes& x) {
    const __m256i values = _mm256_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12,  //
                                            0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    return (Bytes)_mm256_shuffle_epi8(values, (__m256i)x);
  }

  /// Sums of four products each: numbers from 0 to 127, and of x from -127 to 127.
  [[gnu::always_inline]] static Ints dot(const Bytes& numbers, const Bytes& x) {
    return fours(_mm256_maddubs_epi16((__m256i)numbers, (__m256i)x));
  }
  /// Likewise, numbers from -128 to 127.
  [[gnu::always_inline]] static Ints dot_signed(const Bytes& numbers, const Bytes& x) {
    return Own::dot((Bytes)_mm256_abs_epi8((__m256i)numbers), (Bytes)_mm256_sign_epi8((__m256i)x, (__m256i)numbers));
  }

  /// dot() onto sums.
  [[gnu::always_inline]] static void add_dot(Ints& sums, const Bytes& numbers, const Bytes& x) {
    sums += Own::dot(numbers, x);
  }

  /// Likewise, for panels.
  using WideBytes = Bytes;
  using WideInts = Ints;
  using WideFloats = Floats;
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kRun = 4;
  static constexpr int kRows = 4;
  static constexpr bool kTakesSigned = true;
  [[gnu::always_inline]] static void add_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
    sums += Own::dot(numbers, x);
  }
  [[gnu::always_inline]] static void add_signed_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
    Own::add_products(sums, (Bytes)_mm256_abs_epi8((__m256i)numbers),
                      (Bytes)_mm256_sign_epi8((__m256i)x, (__m256i)numbers));
  }

 private:
  // Pairs of products are at most 2 * 128 * 127, which 16 bits hold.
  [[gnu::always_inline]] static Ints fours(__m256i pairs) {
    return (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

}  // namespace qkv::kernels::quantised
