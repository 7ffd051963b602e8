// AVX-512 vectors whose lanes may hold pairs of bf16. Included by this target's own translation unit only.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/simd_avx512.h"

namespace qkv::kernels::cpu::avx512bf16 {

/// A type of its own, so that what is instantiated with this target's flags stays its own.
struct Simd : avx512::Simd {
  /// Lane n is the pair of even[n], in its lower half, and odd[n], rounded to nearest even; subnormal numbers become 0,
  /// as they are in a product of pairs.
  static F pairs(F even, F odd) {
    alignas(64) static constexpr std::uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                  21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(_mm512_load_si512(kInterleave), in_a_row(even, odd)));
  }
  /// The lanes of `first`, then those of `second`, rounded likewise: pairs of neighbours.
  static F neighbours(F first, F second) { return _mm512_castsi512_ps(in_a_row(first, second)); }

 private:
  static __m512i in_a_row(F first, F second) { return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)); }
};

/// For the loops of a product: lanes are pairs, and a multiply-add is that of both.
struct Dots : Simd {
  static F fma(F a, F b, F sum) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
};

}  // namespace qkv::kernels::cpu::avx512bf16
