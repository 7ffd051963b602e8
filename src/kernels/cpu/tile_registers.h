// The eight registers of the AMX tile unit, of 16 rows of 64 bytes.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace qkv::kernels::cpu::amx {

/// `stride` is in bytes. Compilers' own intrinsics take literals only, and GCC 12 knows none for f16.
struct TileRegisters {
  /// All of `config`'s 64 bytes. The registers then hold zeros.
  [[gnu::always_inline]] static void configure(const void* config) { _tile_loadconfig(config); }
  [[gnu::always_inline]] static void release() { _tile_release(); }

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

  /// sums (floats) += left (rows of pairs) * right (pairs of rows).
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply_bf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
  /// AMX-FP16. Unlike that of bf16 the instruction takes subnormal elements as they are.
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply_f16() {
    __asm__ volatile("tdpfp16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
  /// sums (32-bit integers) += left (rows of fours of signed bytes) * right (fours of rows).
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] static void multiply_i8() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
};

}  // namespace qkv::kernels::cpu::amx
