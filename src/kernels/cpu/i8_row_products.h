// The products of a few queries with one tile of keys and values in i8, done by AVX-512's products of four numbers of 8
// bits. Sums of products of whole numbers are exact.
//
// Scores have keys in lanes: four elements of each of 16 keys are a vector, which takes a transposition of the keys,
// and meet four elements of a query in every lane. A query is three digits of 8 bits, as many bits as f32 holds of its
// largest element. Sums have elements in lanes: a vector is the same 16 elements of four keys, which takes shuffles of
// neighbouring rows, and meets the weights of the four. A weight is as many digits as the result has bits for.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/cpu/digits.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/row_steps.h"
#include "kernels/cpu/simd_avx512vnni.h"

namespace qkv::kernels::cpu::avx512vnni {

/// Weights have `kWeightDigits` digits.
template <int kWeightDigits>
class I8RowProducts : public RowProducts<Simd, kTile> {
  using Base = RowProducts<Simd, kTile>;
  using F = Simd::F;
  using U = Simd::U;

  static constexpr std::int64_t kFour = 4;  // lanes at once, and numbers of 8 bits in a lane of a vector
  static constexpr std::int64_t kQueryDigits = 3;
  static constexpr std::int64_t kKeysAtOnce = 16;
  static constexpr std::int64_t kBytes = 64;              // of a vector
  static constexpr std::int64_t kMostD = 256;             // keys at once are 4 KiB
  static constexpr float kLargestQuery = 127.0F * 65536;  // of a number of three digits with signs
  static constexpr float kLargestWeight = kWeightDigits == 2 ? 0xFFFF : 0xFFFF00;  // of digits without

 public:
  using Tile = typename Base::Tile;
  using Base::kHeldLanes;
  static constexpr std::int64_t kMostLanes = kHeldLanes;
  using Base::kWidth;

  static std::int64_t dense_width(std::int64_t lanes) {
    return lanes == 1 ? 1 : lanes <= kFour ? kFour : lanes <= 2 * kFour ? 2 * kFour : kWidth;
  }

  static bool takes(const Forward& call) { return call.D % kBytes == 0 && call.D <= kMostD && call.Dv % kBytes == 0; }

  static std::int64_t query_floats(std::int64_t D) {
    return Base::query_floats(D) + kHeldLanes + kHeldLanes / kFour * group_floats(D);
  }

  /// After the rows that Base wants: the lanes' units, then for each four lanes what their sums begin with and
  /// [D / 4] steps of [digit][lane] four digits.
  static void pack_queries(const std::byte* const* rows, DType dtype, std::int64_t D, float sign, float* stage,
                           float* q) {
    Base::pack_queries(rows, dtype, D, sign, stage, q);
    float* units = q + Base::query_floats(D);
    Simd::store(units, Simd::zero());
    float* group = units + kHeldLanes;
    for (std::int64_t lane = 0; lane < kHeldLanes && rows[lane] != nullptr; ++lane) {
      if (lane % kFour == 0) {
        if (lane > 0) group += group_floats(D);
        std::memset(group, 0, static_cast<std::size_t>(group_floats(D)) * sizeof(float));
      }
      units[lane] = unit_of_alike<Simd>(q + lane * D, D, kLargestQuery);
      pack_digits(q + lane * D, D, units[lane], lane % kFour, group);
    }
  }

  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                     float* s) {
    const float* units = q + Base::query_floats(D);
    const bool fits = is_whole(tile) && all_finite<Simd>(units, 1, kHeldLanes, 0) &&
                      all_finite<Simd>(tile.rows->k_scales, 1, kTile, 0);
    if (!fits) return Base::scores(tile, q, D, lanes, width, s);
    Base::clear_other_lanes(lanes, width, s);
    alignas(kBytes) std::byte turned[kKeysAtOnce * kMostD];
    for (std::int64_t c = 0; c < kTile; c += kKeysAtOnce) {
      turn_keys(tile, c, D, turned);
      for (std::int64_t lane = 0; lane < lanes; lane += kFour) {
        const float* group = units + kHeldLanes + lane / kFour * group_floats(D);
        with_up_to_four(lanes - lane, [&]<int Rows>() __attribute__((always_inline)) {
          score_keys<Rows>(tile, c, turned, group, D, units + lane, width, s + c * width + lane);
        });
      }
    }
  }

  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t width, float* sums) {
    const bool fits = is_whole(tile) && tile.v_type == DType::i8 && are_alike<Simd>(tile.rows->v_scales, kTile);
    if (!fits) return Base::accumulate(tile, w, Dv, lanes, width, sums);
    for (std::int64_t lane = 0; lane < lanes; lane += kFour) {
      bool fit = true;
      with_up_to_four(lanes - lane, [&]<int Rows>() __attribute__((always_inline)) {
        Weights<Rows> weights;
        Ahead ahead(tile.rows->v + kTile, Dv);
        fit = split_weights(w + lane, width, tile, weights);
        if (!fit) return;
        for (std::int64_t d = 0; d < Dv; d += kBytes) add_values(tile, weights, d, Dv, tile.buffer + lane * Dv, ahead);
      });
      if (!fit) return Base::accumulate(tile, w, Dv, lanes, width, sums);
    }
    return Base::add_if_finite(tile, lanes * Dv, sums);
  }

 private:
  static constexpr std::int64_t kStepWords = kQueryDigits * kFour;

  [[gnu::always_inline]] static bool is_whole(const Tile& tile) { return tile.keys == kTile && tile.scaled; }

  static std::int64_t group_floats(std::int64_t D) { return (1 + D / kFour) * kStepWords; }

  template <class Body>
  [[gnu::always_inline]] static void with_up_to_four(std::int64_t rows, const Body& body) {
    switch (rows) {
      case 1:
        return body.template operator()<1>();
      case 2:
        return body.template operator()<2>();
      case 3:
        return body.template operator()<3>();
      default:
        return body.template operator()<kFour>();
    }
  }

  // body<0>() to body<kCount - 1>(). GCC 12 keeps arrays in memory where it unrolls loops of so many steps by itself.
  template <std::int64_t kCount, class Body>
  [[gnu::always_inline]] static void unrolled(const Body& body) {
    [&]<std::int64_t... n>(std::integer_sequence<std::int64_t, n...>) __attribute__((always_inline)) {
      (body.template operator()<n>(), ...);
    }(std::make_integer_sequence<std::int64_t, kCount>());
  }

  static void pack_digits(const float* row, std::int64_t D, float unit, std::int64_t lane, float* group) {
    std::int32_t sums[kQueryDigits] = {};
    auto* steps = reinterpret_cast<std::byte*>(group + kStepWords);
    for (std::int64_t d = 0; d < D; d += Simd::kLanes) {
      const Digits<Simd> digits(Simd::load(row + d), unit);
      for (std::int64_t n = 0; n < kQueryDigits; ++n) {
        alignas(16) std::byte bytes[Simd::kLanes];
        digits.store(n, bytes);
        for (const std::byte digit : bytes) sums[n] += static_cast<std::int8_t>(digit);
        std::byte* to = steps + (d / kFour * kStepWords + n * kFour + lane) * kFour;
        for (std::int64_t step = 0; step < kFour; ++step) {
          std::memcpy(to + step * kStepWords * kFour, bytes + step * kFour, kFour);
        }
      }
    }
    // Keys are taken as numbers from 0 on: 128 too much.
    for (std::int64_t n = 0; n < kQueryDigits; ++n) {
      sums[n] *= -128;
      std::memcpy(group + n * kFour + lane, sums + n, sizeof(float));
    }
  }

  // [step of 4 elements][key] four elements and 128 each, as numbers without sign.
  static void turn_keys(const Tile& tile, std::int64_t c, std::int64_t D, std::byte* to) {
    const std::byte* const* k = tile.rows->k + c;
    const U signs = _mm512_set1_epi8(-128);
    for (std::int64_t d = 0; d < D; d += kBytes) {
      F rows[Simd::kLanes];
#pragma GCC unroll 16
      for (std::int64_t n = 0; n < Simd::kLanes; ++n) {
        rows[n] = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_loadu_si512(k[n] + d), signs));
      }
      Simd::transpose(rows);
#pragma GCC unroll 16
      for (std::int64_t n = 0; n < Simd::kLanes; ++n) _mm512_store_ps(to + d * kKeysAtOnce + n * kBytes, rows[n]);
    }
  }

  // Sums lie [digit][row].
  template <int Rows>
  [[gnu::always_inline]] static void score_keys(const Tile& tile, std::int64_t c, const std::byte* keys,
                                                const float* group, std::int64_t D, const float* units,
                                                std::int64_t width, float* s) {
    constexpr std::int64_t kSums = kQueryDigits * Rows;
    const auto* words = reinterpret_cast<const std::int32_t*>(group);
    Ahead ahead(tile.rows->k + c + kTile, D);
    U sums[kSums];
    unrolled<kSums>([&]<std::int64_t n>()
                        __attribute__((always_inline)) { sums[n] = _mm512_set1_epi32(words[word_of<Rows>(n)]); });
    for (std::int64_t step = 0; step < D / kFour; ++step, keys += kKeysAtOnce * kFour) {
      words += kStepWords;
      const U key = _mm512_load_si512(keys);
      ahead.next();
      unrolled<kSums>([&]<std::int64_t n>() __attribute__((always_inline)) {
        const U query = _mm512_set1_epi32(words[word_of<Rows>(n)]);
        Simd::add_products(key, query, sums[n]);
      });
    }
    finish_scores<Rows>(sums, units, tile.rows->k_scales + c, width, s);
  }

  template <int Rows>
  static constexpr std::int64_t word_of(std::int64_t sum) {
    return sum / Rows * kFour + sum % Rows;
  }

  template <int Rows>
  [[gnu::always_inline]] static void finish_scores(const U (&sums)[kQueryDigits * Rows], const float* units,
                                                   const float* key_scales, std::int64_t width, float* s) {
    const F scales = Simd::load(key_scales);
    F rows[kFour] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
    unrolled<Rows>([&]<std::int64_t r>() __attribute__((always_inline)) {
      rows[r] = Simd::mul(
          whole<kQueryDigits>(sums[r], sums[Rows + r], sums[std::int64_t{2} * Rows + r], Simd::splat(units[r])),
          scales);
    });
    store_scores(rows, width, s);
  }

  // Three digits, or two where the third is not looked at, times a unit.
  template <int kDigits>
  [[gnu::always_inline]] static F whole(U low, U middle, U high, F unit) {
    F x = Simd::fma(_mm512_cvtepi32_ps(middle), Simd::splat(256), _mm512_cvtepi32_ps(low));
    if constexpr (kDigits == 3) x = Simd::fma(_mm512_cvtepi32_ps(high), Simd::splat(65536), x);
    return Simd::mul(x, unit);
  }

  // 16 scores of four lanes, or of one where the width is 1.
  [[gnu::always_inline]] static void store_scores(const F (&rows)[kFour], std::int64_t width, float* s) {
    if (width == 1) return Simd::store(s, rows[0]);
    F keys[kFour];
    turn_within_fours<Simd>(rows, keys);
    F fours[kFour];
    turn_fours<Simd>(keys, fours);
#pragma GCC unroll 4
    for (std::int64_t n = 0; n < kFour; ++n) {
      float* to = s + n * kFour * width;
      if (width == kFour) {
        Simd::store(to, fours[n]);
        continue;
      }
      _mm_storeu_ps(to, _mm512_castps512_ps128(fours[n]));
      _mm_storeu_ps(to + width, _mm512_extractf32x4_ps(fours[n], 1));
      _mm_storeu_ps(to + 2 * width, _mm512_extractf32x4_ps(fours[n], 2));
      _mm_storeu_ps(to + 3 * width, _mm512_extractf32x4_ps(fours[n], 3));
    }
  }

  /// Of four lanes or fewer, times the scales of their values.
  template <int Rows>
  struct Weights {
    float units[Rows];
    alignas(kBytes) std::byte digits[Rows][kWeightDigits][kTile];
  };

  // False where one is below 0 or not finite, or the largest too small.
  template <int Rows>
  [[gnu::always_inline]] static bool split_weights(const float* w, std::int64_t width, const Tile& tile,
                                                   Weights<Rows>& weights) {
    constexpr std::int64_t kVectors = kTile / Simd::kLanes;
    F x[Rows][kVectors];
    for (std::int64_t c = 0; c < kVectors; ++c) {
      const F scales = Simd::load(tile.rows->v_scales + c * Simd::kLanes);
      F rows[kFour];
      if (width == 1) {
        rows[0] = Simd::load(w + c * Simd::kLanes);
      } else {
        turn_four_lanes<Simd>(w + c * Simd::kLanes * width, width, rows);
      }
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < Rows; ++r) x[r][c] = Simd::mul(rows[r], scales);
    }
    bool fit = true;
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r) {
      weights.units[r] = unit_of_weights(x[r]);
      fit = fit && weights.units[r] >= 0;
      for (std::int64_t c = 0; c < kVectors; ++c) {
        const Digits<Simd> digits(x[r][c], weights.units[r]);
        for (std::int64_t n = 0; n < kWeightDigits; ++n) {
          digits.store_unsigned(n, weights.digits[r][n] + c * Simd::kLanes);
        }
      }
    }
    return fit;
  }

  // Below 0 where the weights do not fit.
  [[gnu::always_inline]] static float unit_of_weights(const F (&x)[4]) {
    // As whole numbers those below 0, infinite and NaN are larger than all others.
    const U larger01 = _mm512_max_epu32(_mm512_castps_si512(x[0]), _mm512_castps_si512(x[1]));
    const U larger23 = _mm512_max_epu32(_mm512_castps_si512(x[2]), _mm512_castps_si512(x[3]));
    const std::uint32_t bits = _mm512_reduce_max_epu32(_mm512_max_epu32(larger01, larger23));
    float most = 0;
    std::memcpy(&most, &bits, sizeof(most));
    if (bits >= 0x7F800000U || (most > 0 && most < kSmallestSplit)) return -1;
    return most / kLargestWeight;
  }

  // 64 elements of the values of all keys.
  template <int Rows>
  [[gnu::always_inline]] static void add_values(const Tile& tile, const Weights<Rows>& weights, std::int64_t d,
                                                std::int64_t Dv, float* sums, Ahead& ahead) {
    F x[Rows][kFour];
    add_half<Rows, false>(tile, weights, d, x, ahead);
    add_half<Rows, true>(tile, weights, d, x, ahead);
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r) {
      F fours[kFour];
      turn_fours<Simd>(x[r], fours);
      for (std::int64_t n = 0; n < kFour; ++n) Simd::store(sums + r * Dv + d + n * Simd::kLanes, fours[n]);
    }
  }

  // Of every 16 elements the first 8 or the others: x[row][n] holds elements 4 n to 4 n + 3.
  template <int Rows, bool kOthers>
  [[gnu::always_inline]] static void add_half(const Tile& tile, const Weights<Rows>& weights, std::int64_t d,
                                              F (&x)[Rows][kFour], Ahead& ahead) {
    U acc[Rows][kWeightDigits][2];
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 3
      for (std::int64_t n = 0; n < kWeightDigits; ++n) acc[r][n][0] = acc[r][n][1] = _mm512_setzero_si512();
    }
    for (std::int64_t c = 0; c < kTile; c += kFour) {
      const std::byte* const* v = tile.rows->v + c;
      const U pairs01 = interleaved<kOthers>(v[0] + d, v[1] + d);
      const U pairs23 = interleaved<kOthers>(v[2] + d, v[3] + d);
      const U first = _mm512_unpacklo_epi16(pairs01, pairs23);
      const U second = _mm512_unpackhi_epi16(pairs01, pairs23);
      ahead.next();
      ahead.next();
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 3
        for (std::int64_t n = 0; n < kWeightDigits; ++n) {
          std::int32_t four = 0;
          std::memcpy(&four, weights.digits[r][n] + c, kFour);
          const U weight = _mm512_set1_epi32(four);
          Simd::add_products(weight, first, acc[r][n][0]);
          Simd::add_products(weight, second, acc[r][n][1]);
        }
      }
    }
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        x[r][2 * kOthers + half] = whole<kWeightDigits>(acc[r][0][half], acc[r][1][half],
                                                        acc[r][kWeightDigits - 1][half], Simd::splat(weights.units[r]));
      }
    }
  }

  template <bool kOthers>
  [[gnu::always_inline]] static U interleaved(const std::byte* even, const std::byte* odd) {
    const U a = _mm512_loadu_si512(even);
    const U b = _mm512_loadu_si512(odd);
    return kOthers ? _mm512_unpackhi_epi8(a, b) : _mm512_unpacklo_epi8(a, b);
  }
};

}  // namespace qkv::kernels::cpu::avx512vnni
