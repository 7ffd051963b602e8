// The numbers that the tile unit multiplies in pairs, and the registers that hold them.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/simd_avx512.h"
#if defined(QKV_EMULATE_TILES)
#include "kernels/cpu/emulated_registers.h"
#else
#include "kernels/cpu/tile_registers.h"
#endif

namespace qkv::kernels::cpu::amx {

/// A type of its own, so that what is instantiated with this target's flags stays its own.
struct Simd : avx512::Simd {
  // Too large to be inlined everywhere.
  [[gnu::flatten]] static void transpose(F (&rows)[kLanes]) { avx512::Simd::transpose(rows); }
};

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

#if defined(QKV_EMULATE_TILES)
using Registers = EmulatedRegisters;
#else
using Registers = TileRegisters;
#endif

struct Bf16Tiles : Bf16, Registers {
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply() {
    multiply_bf16<kSums, kLeft, kRight>();
  }
};

struct F16Tiles : F16, Registers {
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply() {
    multiply_f16<kSums, kLeft, kRight>();
  }
};

}  // namespace qkv::kernels::cpu::amx
