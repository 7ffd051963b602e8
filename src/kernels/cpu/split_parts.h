// Floats as the sum of three numbers of bf16, and their products on the tile unit. Method: Henry, Tang, Heinecke,
// "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations" (2019), section III.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/amx_elements.h"
#include "kernels/cpu/amx_tiles.h"

namespace qkv::kernels::cpu::amx {

enum class Part : std::uint8_t { high, middle, low };
inline constexpr std::int64_t kParts = 3;

/// The floats of the lower or the upper 16 words of bf16.
[[gnu::always_inline]] inline __m512 lower(__m512i words) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(words)), 16));
}
[[gnu::always_inline]] inline __m512 upper(__m512i words) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1)), 16));
}

struct Floats32 {
  __m512 first, second;
};

/// 32 words of bf16 each, the 16 of `first` before those of `second`.
struct Parts {
  __m512i high, middle, low;
};

/// Rounds to bf16, and leaves the remainders, which are exact.
[[gnu::always_inline]] inline Parts parts_of(Floats32 x) {
  Parts parts;
  parts.high = Bf16::join(x.first, x.second);
  x.first = _mm512_sub_ps(x.first, lower(parts.high));
  x.second = _mm512_sub_ps(x.second, upper(parts.high));
  parts.middle = Bf16::join(x.first, x.second);
  x.first = _mm512_sub_ps(x.first, lower(parts.middle));
  x.second = _mm512_sub_ps(x.second, upper(parts.middle));
  parts.low = Bf16::join(x.first, x.second);
  return parts;
}

/// Pairs each word of the lower half with one of the upper half.
[[gnu::always_inline]] inline __m512i paired(__m512i words) {
  const __m512i even = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
  return _mm512_or_si512(even, _mm512_castps_si512(upper(words)));
}

enum class Words : std::uint8_t { as_they_are, paired };
enum class Turned : std::uint8_t { no, yes };

/// One register of each part, `part` elements apart: row n holds the words of `load(n)`, which gives Floats32, then
/// transposed as pairs where it is turned.
template <Words kWords, Turned kTurned, class Load>
[[gnu::always_inline]] inline void split_register(const Load& load, std::uint16_t* to, std::int64_t part) {
  constexpr auto row = [](__m512i words) {
    return _mm512_castsi512_ps(kWords == Words::paired ? paired(words) : words);
  };
  __m512 rows[kParts][kSide];
  for (std::int64_t n = 0; n < kSide; ++n) {
    const Parts parts = parts_of(load(n));
    rows[0][n] = row(parts.high);
    rows[1][n] = row(parts.middle);
    rows[2][n] = row(parts.low);
  }
  for (__m512(&of_part)[kSide] : rows) {
    // Pairs are 32 bits wide, so they transpose as floats do.
    if constexpr (kTurned == Turned::yes) Simd::transpose(of_part);
    for (std::int64_t n = 0; n < kSide; ++n) _mm512_store_ps(to + n * kDepth, of_part[n]);
    to += part;
  }
}

/// An operand in three parts, of registers of kTileElements: two of 16 lanes each, for every step of kDepth, for every
/// run of steps. All distances are in elements.
struct SplitOperand {
  const std::uint16_t* first;
  std::int64_t part;
  std::int64_t next;  // to the second register
  std::int64_t step;
  std::int64_t run;

  [[gnu::always_inline]] [[nodiscard]] SplitOperand from_run(std::int64_t n) const {
    SplitOperand rest = *this;
    rest.first += n * run;
    return rest;
  }
  [[gnu::always_inline]] [[nodiscard]] const std::uint16_t* at(Part which, std::int64_t at_run, std::int64_t n) const {
    return first + static_cast<std::int64_t>(which) * part + at_run * run + n * step;
  }
};

[[gnu::always_inline]] inline void load_left(const SplitOperand& left, Part part, std::int64_t run, std::int64_t step) {
  const std::uint16_t* tile = left.at(part, run, step);
  Registers::load_tile<4>(tile, kRowBytes);
  Registers::load_tile<5>(tile + left.next, kRowBytes);
}

[[gnu::always_inline]] inline void load_right(const SplitOperand& right, Part part, std::int64_t run,
                                              std::int64_t step) {
  const std::uint16_t* tile = right.at(part, run, step);
  Registers::load_tile<6>(tile, kRowBytes);
  Registers::load_tile<7>(tile + right.next, kRowBytes);
}

[[gnu::always_inline]] inline void add_products() {
  Bf16Tiles::multiply<0, 4, 6>();
  Bf16Tiles::multiply<1, 4, 7>();
  Bf16Tiles::multiply<2, 5, 6>();
  Bf16Tiles::multiply<3, 5, 7>();
}

[[gnu::always_inline]] inline void add_small_products(const SplitOperand& left, const SplitOperand& right,
                                                      std::int64_t run, std::int64_t step) {
  load_left(left, Part::low, run, step);
  load_right(right, Part::high, run, step);
  add_products();
  load_left(left, Part::middle, run, step);
  add_products();
  load_right(right, Part::middle, run, step);
  add_products();
  load_left(left, Part::high, run, step);
  add_products();
  load_right(right, Part::low, run, step);
  add_products();
}

/// sums (2 x 2 registers of floats, rows `stride` floats apart) = left * right. Small products first, so that their
/// sums round at their own size. Products of at most 2^-26 of the largest are left out.
template <std::int64_t kSteps>
[[gnu::always_inline]] inline void multiply_parts(const SplitOperand& left, const SplitOperand& right,
                                                  std::int64_t runs, float* sums, std::int64_t stride) {
  Registers::zero_tile<0>();
  Registers::zero_tile<1>();
  Registers::zero_tile<2>();
  Registers::zero_tile<3>();
  for (std::int64_t run = 0; run < runs; ++run) {
#pragma GCC unroll 4
    for (std::int64_t step = 0; step < kSteps; ++step) add_small_products(left, right, run, step);
  }
  for (std::int64_t run = 0; run < runs; ++run) {
#pragma GCC unroll 4
    for (std::int64_t step = 0; step < kSteps; ++step) {
      load_left(left, Part::high, run, step);
      load_right(right, Part::high, run, step);
      add_products();
    }
  }
  const std::int64_t bytes = stride * static_cast<std::int64_t>(sizeof(float));
  Registers::store_tile<0>(sums, bytes);
  Registers::store_tile<1>(sums + kSide, bytes);
  Registers::store_tile<2>(sums + kSide * stride, bytes);
  Registers::store_tile<3>(sums + kSide * stride + kSide, bytes);
}

}  // namespace qkv::kernels::cpu::amx
