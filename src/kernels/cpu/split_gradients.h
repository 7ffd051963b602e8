// The five products of the backward pass for a block of 64 queries and one tile of keys in f32, done by the AMX tile
// unit in three parts of bf16 each; sums in f32.
//
// Scores, d_weights and d_q have the operands of the forward pass (split_products.h). For d_v and d_k, rows of weights
// and d_scores are the left operand, and d_out and q, in pairs of queries, the right one. Weights and d_scores are
// split times 2^24, once in rows and once in pairs of keys.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/split_products.h"

namespace qkv::kernels::cpu::amx {

/// The power of two that brings the largest number of a block's rows of d_out to at least 1 and below 2: gradients have
/// any size. 1 if all are 0, and 0 if the largest is below 2^-100, from 2^20 on or not finite.
[[gnu::always_inline]] inline float power_for(const std::byte* const* rows, std::int64_t lanes, std::int64_t width) {
  __m512i largest = _mm512_setzero_si512();
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const auto* row = reinterpret_cast<const float*>(rows[lane]);
    for (std::int64_t d = 0; d < width; d += kSide) {
      const __m512 x = _mm512_abs_ps(_mm512_maskz_loadu_ps(mask_of(width - d), row + d));
      largest = _mm512_max_epu32(largest, _mm512_castps_si512(x));
    }
  }
  const std::uint32_t bits = _mm512_reduce_max_epu32(largest);
  if (bits == 0) return 1;
  constexpr std::uint32_t kBias = 127;
  const std::uint32_t exponent = bits >> 23U;
  if (exponent < kBias - 100 || exponent >= kBias + kBackwardBelow) return 0;
  const std::uint32_t power = (2 * kBias - exponent) << 23U;
  float factor = 0;
  std::memcpy(&factor, &power, sizeof(factor));
  return factor;
}

/// For q, k, v and d_out that are Splittable<kBackwardBelow>. The sums of d_k and d_v lie as those of FmaGradients, and
/// those of d_q are added to such.
class SplitGradients {
  using Products = SplitProducts;

 public:
  using Simd = amx::Simd;
  static constexpr std::int64_t kWidth = kTile;  // of a row of a tile of pairs
  static constexpr bool kTakesFiniteOnly = true;

  struct Keys {
    Products::Tile k;  // with the keys in the place of values too: d_q sums them
    Products::Tile v;  // without
    float* d_k;        // rows of kTile keys, padded to whole vectors
    float* d_v;
    std::int64_t count;
  };

  struct Queries {
    float* q;  // as Products packs them
    float* d_out;
    std::uint16_t* q_pairs;  // [part][D / 16][2] registers of 16 pairs of queries x 16 elements
    std::uint16_t* d_out_pairs;
    std::uint16_t* rows;   // of a tile of weights or d_scores: [part][4][2] registers of 16 keys x 32 queries
    std::uint16_t* pairs;  // of d_scores, as Products packs weights
    std::int64_t lanes;
    float unit;  // of d_out, which is split times 1 / unit
  };

  static std::int64_t key_floats(std::int64_t D, std::int64_t Dv) {
    return Products::tile_floats(D, D) + Products::tile_floats(Dv, 0) + kTile * (stride(D) + stride(Dv));
  }
  static std::int64_t query_floats(std::int64_t D, std::int64_t Dv) {
    const std::int64_t elements = pair_elements(D) + pair_elements(Dv) + 2 * Products::kWeightElements;
    return Products::query_floats(D) + Products::query_floats(Dv) + elements / 2;
  }
  /// Of a block of a task: [D][kTile lanes], then room for the rows of a vector of lanes.
  static std::int64_t block_d_q_floats(std::int64_t D) { return Products::sum_floats(D) + kSide * stride(D); }
  /// Of a block of all tasks, as FmaGradients.
  static std::int64_t d_q_floats(std::int64_t D) { return kTile * stride(D); }

  static bool load_keys(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t count, std::int64_t D,
                        std::int64_t Dv, float* buffer, Keys& keys) {
    keys.count = count;
    keys.d_k = buffer;
    keys.d_v = keys.d_k + kTile * stride(D);
    const std::int64_t sums = kTile * (stride(D) + stride(Dv));
    for (std::int64_t n = 0; n < sums; n += kSide) Simd::store(buffer + n, Simd::zero());
    keys.k = Products::load(k, k, j, count, D, D, buffer + sums);
    keys.v = Products::load(v, v, j, count, Dv, 0, buffer + sums + Products::tile_floats(D, D));
    return true;
  }

  static bool load_queries(const std::byte* const* q, const std::byte* const* d_out, std::int64_t lanes, DType dtype,
                           std::int64_t D, std::int64_t Dv, float sign, float* buffer, Queries& queries) {
    queries.lanes = lanes;
    queries.q = buffer;
    queries.d_out = queries.q + Products::query_floats(D);
    queries.q_pairs = reinterpret_cast<std::uint16_t*>(queries.d_out + Products::query_floats(Dv));
    queries.d_out_pairs = queries.q_pairs + pair_elements(D);
    queries.rows = queries.d_out_pairs + pair_elements(Dv);
    queries.pairs = queries.rows + Products::kWeightElements;
    Products::pack_queries(q, dtype, D, sign, nullptr, queries.q);
    const float power = power_for(d_out, lanes, Dv);
    queries.unit = 1 / power;
    Products::pack_queries(d_out, dtype, Dv, power, nullptr, queries.d_out);
    pair_rows(q, D, sign, queries.q_pairs);
    pair_rows(d_out, Dv, power, queries.d_out_pairs);
    return true;
  }

  static void scores(const Keys& keys, const Queries& queries, std::int64_t D, float* s) {
    Products::scores(keys.k, queries.q, D, queries.lanes, s);
  }

  static void d_weights(const Keys& keys, const Queries& queries, std::int64_t Dv, float* d_weights) {
    Products::scores(keys.v, queries.d_out, Dv, queries.lanes, d_weights);
    const __m512 unit = Simd::splat(queries.unit);
    for (std::int64_t n = 0; n < keys.count * kTile; n += kSide) {
      Simd::store(d_weights + n, Simd::mul(Simd::load(d_weights + n), unit));
    }
  }

  static void add_d_v(const Keys& keys, const Queries& queries, std::int64_t Dv, const float* weights) {
    split_rows(weights, keys.count, queries);
    add_rows(queries, keys.count, queries.d_out_pairs, Dv, queries.unit, keys.d_v);
  }

  static void add_d_k(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores) {
    split_rows(d_scores, keys.count, queries);
    add_rows(queries, keys.count, queries.q_pairs, D, 1, keys.d_k);
  }

  /// d_q is that of a block of a task, times 2^24.
  static void add_d_q(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores, float* d_q) {
    Products::pack_weights(d_scores, keys.count, queries.lanes, queries.pairs);
    Products::accumulate(keys.k, 1, 0, queries.pairs, D, queries.lanes, d_q);
  }

  /// sums += a task's share.
  static void add_block_d_q(float* share, std::int64_t D, std::int64_t lanes, float* sums) {
    float* rows = share + Products::sum_floats(D);
    for (std::int64_t lane = 0; lane < lanes; lane += kSide) {
      Products::unpack_sums(share, D, lane, rows);
      float* to = sums + lane * stride(D);
      for (std::int64_t n = 0; n < kSide * stride(D); n += kSide) {
        Simd::store(to + n, Simd::add(Simd::load(to + n), Simd::load(rows + n)));
      }
    }
  }

  /// Row `n` of d_k or d_v, times `factor`.
  static void store_row(const float* sums, std::int64_t n, std::int64_t width, float factor, DType dtype,
                        std::byte* row) {
    cpu::store_row<Simd>(sums + n * stride(width), factor, width, dtype, row);
  }

 private:
  static std::int64_t stride(std::int64_t width) { return round_up(width, kSide); }
  static std::int64_t pair_part(std::int64_t width) { return round_up(width, 2 * kSide) * kTile; }
  static std::int64_t pair_elements(std::int64_t width) { return kParts * pair_part(width); }

  static void pair_rows(const std::byte* const* rows, std::int64_t width, float sign, std::uint16_t* to) {
    const __m512 factor = _mm512_set1_ps(sign);
    for (std::int64_t d = 0; d < round_up(width, 2 * kSide); d += kSide) {
      const __mmask16 columns = mask_of(width - d);
      const auto part_of = [&](std::int64_t lane) {
        if (rows[lane] == nullptr) return _mm512_setzero_ps();
        return _mm512_mul_ps(_mm512_maskz_loadu_ps(columns, reinterpret_cast<const float*>(rows[lane]) + d), factor);
      };
      for (std::int64_t lane = 0; lane < kTile; lane += kDepth, to += kTileElements) {
        const auto load = [&](std::int64_t n) { return Floats32{part_of(lane + 2 * n), part_of(lane + 2 * n + 1)}; };
        split_register<Words::paired, Turned::no>(load, to, pair_part(width));
      }
    }
  }

  // A tile of pairs times 2^24. Keys beyond the last become 0, and so do lanes, which are NaN where a key is.
  static void split_rows(const float* tile, std::int64_t keys, const Queries& queries) {
    const __m512 factor = _mm512_set1_ps(SplitWeights::kWeightScale);
    std::uint16_t* to = queries.rows;
    for (std::int64_t c = 0; c < kTile; c += kSide) {
      for (std::int64_t lane = 0; lane < kTile; lane += kDepth, to += kTileElements) {
        const auto load = [&](std::int64_t n) {
          const std::int64_t lanes = c + n < keys ? queries.lanes - lane : 0;
          const float* row = tile + (c + n) * kTile + lane;
          return Floats32{_mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(lanes), row), factor),
                          _mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(lanes - kSide), row + kSide), factor)};
        };
        split_register<Words::as_they_are, Turned::no>(load, to, kTile * kTile);
      }
    }
  }

  // sums[key][d] += sum over lanes of rows[key][lane] * pairs[lane][d], whose unit is `unit`
  static void add_rows(const Queries& queries, std::int64_t keys, const std::uint16_t* pairs, std::int64_t width,
                       float unit, float* sums) {
    alignas(64) float fresh[4 * kSide * kSide];
    for (std::int64_t c = 0; c < keys; c += 2 * kSide) {
      const SplitOperand left = of_lanes(queries.rows, c, kTile * kTile);
      for (std::int64_t d = 0; d < width; d += 2 * kSide) {
        multiply_parts<2>(left, of_lanes(pairs, d, pair_part(width)), 1, fresh, 2 * kSide);
        add_scaled(fresh, unit, stride(width) - d, sums + c * stride(width) + d, stride(width));
      }
    }
  }

  // Keys or elements from `first` on, in both steps of lanes.
  static SplitOperand of_lanes(const std::uint16_t* registers, std::int64_t first, std::int64_t part) {
    return {
        .first = registers + first * kTile, .part = part, .next = 2 * kTileElements, .step = kTileElements, .run = 0};
  }

  // The first 16 columns, and the second where there are so many.
  static void add_scaled(const float* fresh, float unit, std::int64_t columns, float* sums, std::int64_t stride) {
    const __m512 factor = Simd::splat(unit / SplitWeights::kWeightScale);
    for (std::int64_t n = 0; n < 2 * kSide; ++n, fresh += 2 * kSide, sums += stride) {
      for (std::int64_t d = 0; d < 2 * kSide && d < columns; d += kSide) {
        Simd::store(sums + d, Simd::fma(Simd::load(fresh + d), factor, Simd::load(sums + d)));
      }
    }
  }
};

}  // namespace qkv::kernels::cpu::amx
