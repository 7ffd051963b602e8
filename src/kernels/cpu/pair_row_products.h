// The products of a few queries with one tile of keys and values in bf16, done by AVX-512 in pairs: of neighbours along
// D for the scores, where rows are multiplied as they lie, and of keys for the sums, where two rows are interleaved.
// Weights are rounded to bf16. Subnormal elements count as 0.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/pairs.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/simd_avx512bf16.h"

namespace qkv::kernels::cpu::avx512bf16 {

/// For calls whose queries are bf16, too.
class PairRowProducts : public RowProducts<Simd> {
  using Base = RowProducts<Simd>;
  static constexpr std::int64_t kRowsAtOnce = 4;  // queries
  static constexpr std::int64_t kStep = 32;       // elements of a vector

 public:
  static bool takes(const Forward& call) { return call.D % kStep == 0 && call.Dv % kStep == 0; }

  static std::int64_t query_floats(std::int64_t D) { return D / 2 * kHeldLanes; }

  /// q is [lane][D / 2].
  static void pack_queries(const std::byte* const* rows, DType /*bf16*/, std::int64_t D, float sign, float* /*stage*/,
                           float* q) {
    for (std::int64_t lane = 0; lane < kHeldLanes; ++lane) {
      if (rows[lane] != nullptr) copy_pairs<Simd>(rows[lane], D, sign, q + lane * D / 2);
    }
  }

  /// s[key][lane] = k . q, as that of Base.
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                     float* s) {
    clear_other_lanes(lanes, width, s);
    for (std::int64_t lane = 0; lane < lanes; lane += kRowsAtOnce) {
      score_rows<kRowsAtOnce>(lanes - lane, tile, q + lane * D / 2, D / 2, width, s + lane);
    }
  }

  /// As that of Base, with the weights rounded. They are of no use after it.
  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t width, float* sums) {
    if (tile.v_type != DType::bf16) return Base::accumulate(tile, w, Dv, lanes, width, sums);
    pair_weights(tile.keys, width, w);
    for (std::int64_t d = 0; d < lanes * Dv; d += Simd::kLanes) Simd::store(tile.buffer + d, Simd::zero());
    for (std::int64_t lane = 0; lane < lanes; lane += kRowsAtOnce) {
      add_rows<kRowsAtOnce>(lanes - lane, tile, w + lane, width, Dv, tile.buffer + lane * Dv);
    }
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

  template <int Rows>
  static void score_rows(std::int64_t rows, const Tile& tile, const float* q, std::int64_t pairs, std::int64_t width,
                         float* s) {
    if constexpr (Rows > 1) {
      if (rows < Rows) return score_rows<Rows - 1>(rows, tile, q, pairs, width, s);
    }
    constexpr int kKeys = Simd::kLanes / static_cast<int>(std::bit_ceil(static_cast<unsigned>(Rows)));
    for (std::int64_t c = 0; c < tile.keys; c += kKeys) score_keys<Rows, kKeys>(tile, c, q, pairs, width, s);
  }

  template <int Rows, int Keys>
  [[gnu::always_inline]] static void score_keys(const Tile& tile, std::int64_t c, const float* q, std::int64_t pairs,
                                                std::int64_t width, float* s) {
    constexpr std::int64_t kSums = Simd::kLanes / Keys;  // of a key
    const std::byte* k[Keys];
#pragma GCC unroll 16
    for (int n = 0; n < Keys; ++n) k[n] = tile.rows->k[c + n];
    fetch_keys(tile, c, Keys, pairs * kPairBytes);
    F acc[Simd::kLanes];
#pragma GCC unroll 16
    for (F& sum : acc) sum = Simd::zero();
    for (std::int64_t d = 0; d < pairs; d += Simd::kLanes) {
      F query[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) query[r] = Simd::load(q + r * pairs + d);
#pragma GCC unroll 16
      for (int n = 0; n < Keys; ++n) {
        const F key = _mm512_loadu_ps(k[n] + d * kPairBytes);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) acc[n * kSums + r] = Dots::fma(query[r], key, acc[n * kSums + r]);
      }
    }
    store_scores<Rows, Keys>(Simd::sums(acc), width, s + c * width);
  }

  template <int Rows>
  static void add_rows(std::int64_t rows, const Tile& tile, const float* w, std::int64_t width, std::int64_t Dv,
                       float* sums) {
    if constexpr (Rows > 1) {
      if (rows < Rows) return add_rows<Rows - 1>(rows, tile, w, width, Dv, sums);
    }
    constexpr std::int64_t kPairs = 4;
    std::int64_t c = 0;
    for (; c + 2 * kPairs <= tile.keys; c += 2 * kPairs) add_keys<Rows, kPairs>(tile, c, w, width, Dv, sums);
    for (; c < tile.keys; c += 2) add_keys<Rows, 1>(tile, c, w, width, Dv, sums);
  }

  // Two keys at a time; one beyond the last has no weight. The sums stay in the first-level cache.
  template <int Rows, int Pairs>
  [[gnu::always_inline]] static void add_keys(const Tile& tile, std::int64_t c, const float* w, std::int64_t width,
                                              std::int64_t Dv, float* sums) {
    const std::byte* v[2 * Pairs];
    F weights[Pairs][Rows];
#pragma GCC unroll 8
    for (int n = 0; n < 2 * Pairs; ++n) {
      const std::byte* const* row = tile.rows->v + (c + n < tile.keys ? c + n : tile.keys - 1);
      v[n] = *row;
      fetch_row(tile, row, Dv * 2);
    }
#pragma GCC unroll 4
    for (int p = 0; p < Pairs; ++p) {
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) weights[p][r] = Simd::splat(w[(c / 2 + p) * width + r]);
    }
    for (std::int64_t d = 0; d < Dv; d += kStep) {
      F low[Pairs];
      F high[Pairs];
#pragma GCC unroll 4
      for (int p = 0; p < Pairs; ++p) interleave(v[2 * p] + d * 2, v[2 * p + 1] + d * 2, low[p], high[p]);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        float* sum = sums + r * Dv + d;
        F first = Simd::load(sum);
        F second = Simd::load(sum + Simd::kLanes);
#pragma GCC unroll 4
        for (int p = 0; p < Pairs; ++p) {
          first = Dots::fma(weights[p][r], low[p], first);
          second = Dots::fma(weights[p][r], high[p], second);
        }
        Simd::store(sum, first);
        Simd::store(sum + Simd::kLanes, second);
      }
    }
  }

  // 32 elements of two rows as pairs.
  [[gnu::always_inline]] static void interleave(const std::byte* even, const std::byte* odd, F& low, F& high) {
    alignas(64) static constexpr std::uint16_t kPlaces[64] = {
        0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
        11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53,
        22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63};
    const __m512i a = _mm512_loadu_si512(even);
    const __m512i b = _mm512_loadu_si512(odd);
    low = _mm512_castsi512_ps(_mm512_permutex2var_epi16(a, _mm512_load_si512(kPlaces), b));
    high = _mm512_castsi512_ps(_mm512_permutex2var_epi16(a, _mm512_load_si512(kPlaces + 32), b));
  }
};

}  // namespace qkv::kernels::cpu::avx512bf16
