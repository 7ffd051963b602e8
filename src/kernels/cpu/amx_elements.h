// The numbers that the tile unit multiplies in pairs, and the operations on its registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/simd_avx512.h"

namespace qkv::kernels::cpu::amx {

/// A type of its own, so that what is instantiated with this target's flags stays its own.
struct Simd : avx512::Simd {};

struct Bf16 {
  static constexpr int kExponent = 0x7F80;         // all of its bits are set: NaN or infinite
  static constexpr float kLargestTotal = 0x1p16F;  // of a tile's weights, where their maximum was not looked at
  static constexpr float kWeightScale = 1;         // weights are stored times this

  static __m512 load(const std::uint16_t* p) { return Simd::load_bf16(p); }
  static void store(std::uint16_t* p, __m512 x) { Simd::store_bf16(p, x); }
  /// `even` in the lower half.
  static __m512i join(__m512 even, __m512 odd) { return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)); }
};

/// f16 ends at 65504 and loses precision below 2^-14. A weight is at most 2^8 where the tile's total is, and where its
/// maximum was looked at; dropout of at most kMostDropout may double it. Times 2^6 that is 2^15, and what rounds to 0
/// is at most 2^-31 of the row's largest weight.
struct F16 {
  static constexpr int kExponent = 0x7C00;
  static constexpr float kLargestTotal = 0x1p8F;
  static constexpr float kWeightScale = 0x1p6F;
  static constexpr double kMostDropout = 0.5;

  static __m512 load(const std::uint16_t* p) { return Simd::load_f16(p); }
  static void store(std::uint16_t* p, __m512 x) { Simd::store_f16(p, x); }
  static __m512i join(__m512 even, __m512 odd) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(rounded(even)), rounded(odd), 1);
  }

 private:
  static __m256i rounded(__m512 x) {
    return _mm512_cvtps_ph(_mm512_mul_ps(x, _mm512_set1_ps(kWeightScale)), _MM_FROUND_TO_NEAREST_INT);
  }
};

/// Moves between memory and registers of 16 rows of 64 bytes; `stride` is in bytes. Compilers' own intrinsics take
/// literals only, and GCC 12 knows none for f16.
struct Registers {
  template <int kTo>
  [[gnu::always_inline]] static void zero_tile() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTo));
  }
  template <int kTo>
  [[gnu::always_inline]] static void load_tile(const void* from, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTo) : "memory");
  }
  template <int kFrom>
  [[gnu::always_inline]] static void store_tile(void* to, std::int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kFrom) : "memory");
  }
};

struct Bf16Tiles : Bf16, Registers {
  /// sums (floats) += left (rows of pairs) * right (pairs of rows).
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
};

/// AMX-FP16. Unlike that of bf16 the instruction takes subnormal elements as they are.
struct F16Tiles : F16, Registers {
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply() {
    __asm__ volatile("tdpfp16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
};

}  // namespace qkv::kernels::cpu::amx
