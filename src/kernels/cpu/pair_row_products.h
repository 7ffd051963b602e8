// The products of a few queries with one tile of keys and values in bf16, done by AVX-512 in pairs: of neighbours along
// D for the scores, where rows are multiplied as they lie, and of keys for the sums, where two rows are interleaved.
// Weights are rounded to bf16. Subnormal elements count as 0.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/pairs.h"
#include "kernels/cpu/register_row_products.h"
#include "kernels/cpu/row_steps.h"
#include "kernels/cpu/simd_avx512bf16.h"

namespace qkv::kernels::cpu::avx512bf16 {

/// For calls whose queries are bf16, too.
class PairRowProducts : public RegisterRowProducts<Simd, Dots> {
  using Base = RegisterRowProducts<Simd, Dots>;
  static constexpr std::int64_t kStep = 32;         // elements of a vector
  static constexpr std::int64_t kVectorBytes = 32;  // that one vector of sums takes of a row

 public:
  static bool takes(const Forward& call) { return call.D % kStep == 0 && call.Dv % kStep == 0; }

  static std::int64_t query_floats(std::int64_t D) { return D / 2 * kHeldLanes; }

  /// As that of Base, of pairs in the place of floats.
  static void pack_queries(const std::byte* const* rows, DType /*bf16*/, std::int64_t D, float sign, float* stage,
                           float* q) {
    for (std::int64_t lane = 0; lane < kHeldLanes; ++lane) {
      if (rows[lane] == nullptr) continue;
      copy_pairs<Simd>(rows[lane], D, sign, stage);
      place_query(stage, D / 2, lane, q);
    }
  }

  /// s[key][lane] = k . q, as that of Base.
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                     float* s) {
    score<DType::f32>(tile, q, D / 2, lanes, width, s);
  }

  /// As that of Base, with the weights rounded. They are of no use after it.
  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t width, float* sums) {
    if (tile.v_type != DType::bf16) return Base::accumulate(tile, w, Dv, lanes, width, sums);
    pair_weights(tile.keys, width, w);
    with_ahead(tile.more, [&]<class A>() __attribute__((always_inline)) {
      with_rows(lanes, [&]<int Rows>(std::int64_t lane) __attribute__((always_inline)) {
        sum_rows<Rows, A>(tile, w + lane, width, Dv, tile.buffer + lane * Dv);
      });
    });
    return add_if_finite(tile, lanes * Dv, sums);
  }

 private:
  using F = Simd::F;

  // w[key / 2][lane] becomes the pair of the weights of two keys.
  static void pair_weights(std::int64_t keys, std::int64_t width, float* w) {
    constexpr std::int64_t kTwo = std::int64_t{2} * Simd::kLanes;
    const std::int64_t end = round_up(keys * width, kTwo);
    for (std::int64_t n = keys * width; n < end; ++n) w[n] = 0;
    // Place n of a vector holds key n / width; of two vectors the even keys go into one, the odd keys into the other.
    const __m512i first_lane = _mm512_and_si512(Simd::lane_numbers(), _mm512_set1_epi32(static_cast<int>(-width)));
    const __m512i even = _mm512_add_epi32(Simd::lane_numbers(), first_lane);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(static_cast<int>(width)));
    for (std::int64_t n = 0; n < end; n += kTwo) {
      const F a = Simd::load(w + n);
      const F b = Simd::load(w + n + Simd::kLanes);
      Simd::store(w + n / 2, Simd::pairs(_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)));
    }
  }

  template <int Rows, class A>
  static void sum_rows(const Tile& tile, const float* w, std::int64_t width, std::int64_t Dv, float* sums) {
    // As many as have room for their sums in the registers.
    constexpr int kVectors = Rows == 1 ? 8 : 16 / static_cast<int>(std::bit_ceil(static_cast<unsigned>(Rows)));
    A far(tile.rows->v + kTile, Dv * 2);
    std::int64_t d = 0;
    for (; d + std::int64_t{kVectors} * Simd::kLanes <= Dv; d += std::int64_t{kVectors} * Simd::kLanes) {
      sum_values<Rows, kVectors>(tile, w, width, d, Dv, sums, far);
    }
    for (; d < Dv; d += kStep) sum_values<Rows, 2>(tile, w, width, d, Dv, sums, far);
  }

  // Two keys at a time; one beyond the last has no weight.
  template <int Rows, int Vectors, class A>
  [[gnu::always_inline]] static void sum_values(const Tile& tile, const float* w, std::int64_t width, std::int64_t d,
                                                std::int64_t Dv, float* sums, A& far) {
    F acc[Rows][Vectors];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (int n = 0; n < Vectors; ++n) acc[r][n] = Simd::zero();
    }
    for (std::int64_t c = 0; c < tile.keys; c += 2) {
      const std::byte* const* rows = tile.rows->v + c;
      if (kAsksTwice<DType::f32, Rows, A> && d == 0) {
        fetch<Fetch::second_level>(rows[kAgain], Dv * 2);
        fetch<Fetch::second_level>(rows[kAgain + 1], Dv * 2);
      }
      const std::byte* even = rows[0] + d * 2;
      const std::byte* odd = rows[c + 1 < tile.keys ? 1 : 0] + d * 2;
      F values[Vectors];
#pragma GCC unroll 4
      for (int n = 0; n < Vectors; n += 2) {
        interleave(even + n * kVectorBytes, odd + n * kVectorBytes, values[n], values[n + 1]);
        far.next();
        far.next();
      }
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const F weight = Simd::splat(w[c / 2 * width + r]);
#pragma GCC unroll 8
        for (int n = 0; n < Vectors; ++n) acc[r][n] = Dots::fma(weight, values[n], acc[r][n]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
      for (int n = 0; n < Vectors; n += 2) {
        store_sums(acc[r][n], acc[r][n + 1], sums + r * Dv + d + std::int64_t{n} * Simd::kLanes);
      }
    }
  }

  // 32 elements of two rows as pairs: of every 8 the first four in `low`, the others in `high`.
  [[gnu::always_inline]] static void interleave(const std::byte* even, const std::byte* odd, F& low, F& high) {
    const __m512i a = _mm512_loadu_si512(even);
    const __m512i b = _mm512_loadu_si512(odd);
    low = _mm512_castsi512_ps(_mm512_unpacklo_epi16(a, b));
    high = _mm512_castsi512_ps(_mm512_unpackhi_epi16(a, b));
  }

  // Sums of what interleave() gave, in the order of the elements.
  [[gnu::always_inline]] static void store_sums(F low, F high, float* sums) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    Simd::store(sums, _mm512_permutex2var_ps(low, first, high));
    Simd::store(sums + Simd::kLanes, _mm512_permutex2var_ps(low, second, high));
  }
};

}  // namespace qkv::kernels::cpu::avx512bf16
