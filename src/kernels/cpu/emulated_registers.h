// The registers of the AMX tile unit in plain memory, and its instructions in AVX-512, for tests on machines without
// one. No build holds them but that of QKV_EMULATE_TILES and the tests.
//
// As Intel's manual has its instructions: the even and the odd elements of pairs are summed apart, each from 0 by one
// FMA after the other, and the total of both is added to the register. Results below 2^-126 are 0; elements of bf16
// below it count as 0, those of f16 as they are.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/tile_config.h"

namespace qkv::kernels::cpu::amx {

/// As TileRegisters. Outside configure() and release() an instruction ends the program, as it does on the unit; so does
/// a product of registers whose shapes do not fit.
struct EmulatedRegisters {
  static void configure(const void* to) {
    std::memset(tiles, 0, sizeof(tiles));
    std::memcpy(&config, to, sizeof(config));
    configured = true;
  }
  static void release() { configured = false; }

  template <int kTo>
  static void zero_tile() {
    std::memset(tile<kTo>(), 0, kBytes);
  }
  template <int kTo>
  static void load_tile(const void* from, std::int64_t stride) {
    zero_tile<kTo>();
    for (std::int64_t n = 0; n < config.rows[kTo]; ++n) {
      std::memcpy(tile<kTo>() + n * kRowBytes, static_cast<const std::byte*>(from) + n * stride, config.row_bytes[kTo]);
    }
  }
  template <int kFrom>
  static void store_tile(void* to, std::int64_t stride) {
    for (std::int64_t n = 0; n < config.rows[kFrom]; ++n) {
      std::memcpy(static_cast<std::byte*>(to) + n * stride, tile<kFrom>() + n * kRowBytes, config.row_bytes[kFrom]);
    }
  }
  template <int kSums, int kLeft, int kRight>
  static void multiply_bf16() {
    require_fit<kSums, kLeft, kRight>();
    multiply_pairs<Bf16Words>(tile<kSums>(), tile<kLeft>(), tile<kRight>());
  }
  template <int kSums, int kLeft, int kRight>
  static void multiply_f16() {
    require_fit<kSums, kLeft, kRight>();
    multiply_pairs<F16Words>(tile<kSums>(), tile<kLeft>(), tile<kRight>());
  }
  template <int kSums, int kLeft, int kRight>
  static void multiply_i8() {
    require_fit<kSums, kLeft, kRight>();
    multiply_fours(tile<kSums>(), tile<kLeft>(), tile<kRight>(), config.rows[kRight]);
  }

 private:
  static constexpr std::int64_t kRows = 16;
  static constexpr std::int64_t kRowBytes = 64;
  static constexpr std::int64_t kBytes = kRows * kRowBytes;

  alignas(64) static constinit inline thread_local std::byte tiles[8][kBytes] = {};
  static constinit inline thread_local TileConfig config = {};
  static constinit inline thread_local bool configured = false;

  // What is beyond a register's shape is 0, so products need not leave it out.
  template <int kSums, int kLeft, int kRight>
  static void require_fit() {
    const bool fits = config.rows[kSums] == config.rows[kLeft] && config.row_bytes[kSums] == config.row_bytes[kRight] &&
                      config.row_bytes[kLeft] == 4 * config.rows[kRight];
    if (!fits) __builtin_trap();
  }

  template <int kNumber>
  static std::byte* tile() {
    if (!configured) __builtin_trap();
    return tiles[kNumber];
  }

  // What lies below 2^-126 is 0 of the same sign; NaN stays.
  static __m512 normal(__m512 x) {
    const __mmask16 small = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(0x1p-126F), _CMP_LT_OQ);
    return _mm512_mask_and_ps(x, small, x, _mm512_set1_ps(-0.0F));
  }

  struct Bf16Words {
    static __m512 even(__m512i pairs) { return normal(_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16))); }
    static __m512 odd(__m512i pairs) {
      return normal(_mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)))));
    }
  };

  struct F16Words {
    static __m512 even(__m512i pairs) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs)); }
    static __m512 odd(__m512i pairs) { return even(_mm512_srli_epi32(pairs, 16)); }
  };

  static __m512i row_of(const std::byte* tile, std::int64_t n) { return _mm512_load_si512(tile + n * kRowBytes); }

  // Element k of row m, in every place.
  static __m512i element(const std::byte* tile, std::int64_t m, std::int64_t k) {
    std::int32_t bits;
    std::memcpy(&bits, tile + m * kRowBytes + k * 4, sizeof(bits));
    return _mm512_set1_epi32(bits);
  }

  template <class Words>
  static void multiply_pairs(std::byte* sums, const std::byte* left, const std::byte* right) {
    __m512 right_even[kRows];
    __m512 right_odd[kRows];
    for (std::int64_t k = 0; k < kRows; ++k) {
      right_even[k] = Words::even(row_of(right, k));
      right_odd[k] = Words::odd(row_of(right, k));
    }
    for (std::int64_t m = 0; m < kRows; ++m) {
      __m512 even = _mm512_setzero_ps();
      __m512 odd = _mm512_setzero_ps();
      for (std::int64_t k = 0; k < kRows; ++k) {
        const __m512i pairs = element(left, m, k);
        even = normal(_mm512_fmadd_ps(Words::even(pairs), right_even[k], even));
        odd = normal(_mm512_fmadd_ps(Words::odd(pairs), right_odd[k], odd));
      }
      std::byte* row = sums + m * kRowBytes;
      const __m512 total = normal(_mm512_add_ps(even, odd));
      _mm512_store_ps(row, normal(_mm512_add_ps(normal(_mm512_load_ps(row)), total)));
    }
  }

  // Byte n of each four, with its sign.
  template <int kByte>
  static __m512i byte_of(__m512i fours) {
    return _mm512_srai_epi32(_mm512_slli_epi32(fours, 24 - 8 * kByte), 24);
  }

  template <int kByte>
  static __m512i product_of(__m512i left, __m512i right) {
    return _mm512_mullo_epi32(byte_of<kByte>(left), byte_of<kByte>(right));
  }

  static void multiply_fours(std::byte* sums, const std::byte* left, const std::byte* right, std::int64_t fours) {
    for (std::int64_t m = 0; m < kRows; ++m) {
      std::byte* row = sums + m * kRowBytes;
      __m512i total = _mm512_load_si512(row);
      for (std::int64_t k = 0; k < fours; ++k) {
        const __m512i a = element(left, m, k);
        const __m512i b = row_of(right, k);
        const __m512i low = _mm512_add_epi32(product_of<0>(a, b), product_of<1>(a, b));
        const __m512i high = _mm512_add_epi32(product_of<2>(a, b), product_of<3>(a, b));
        total = _mm512_add_epi32(total, _mm512_add_epi32(low, high));
      }
      _mm512_store_si512(row, total);
    }
  }
};

}  // namespace qkv::kernels::cpu::amx
