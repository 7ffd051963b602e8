// The five products of the backward pass for a block of 64 queries and one tile of keys in bf16, by the AMX tile unit;
// sums in f32.
//
// Scores, d_weights and d_q have the operands of the forward pass: keys and values in place times queries in pairs of
// elements, and keys transposed times d_scores in pairs of keys. For d_v and d_k, rows of weights and d_scores are the
// left operand, and d_out and q, in pairs of queries, the right one.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/amx_products.h"
#include "kernels/cpu/amx_tiles.h"

namespace qkv::kernels::cpu::amx {

class Gradients {
  using Products = amx::Products<Bf16Tiles>;

 public:
  using Simd = amx::Simd;
  static constexpr std::int64_t kWidth = kTile;  // of a row of a tile of pairs

  struct Keys {
    Products::Tile k;  // with the keys in the place of values too: d_q sums them
    Products::Tile v;  // without
    float* d_k;        // [D / kTile][kTile keys][kTile]
    float* d_v;
    std::int64_t count;
    KvRows rows;  // of k, from the first on
  };

  struct Queries {
    float* q;  // as Products packs them
    float* d_out;
    std::uint16_t* q_pairs;  // [D / 16][2] registers of 16 pairs of queries x 16 elements
    std::uint16_t* d_out_pairs;
    std::uint16_t* rows;   // of a tile of weights or d_scores: [key][kTile]
    std::uint16_t* pairs;  // of d_scores, as Products packs weights
    const std::byte* const* q_rows;
    const std::byte* const* d_out_rows;
    float sign;
    std::int64_t lanes;
  };

  static std::int64_t key_floats(std::int64_t D, std::int64_t Dv) {
    return Products::tile_floats(D, D) + Products::tile_floats(Dv, 0) + kTile * (blocked(D) + blocked(Dv));
  }
  static std::int64_t query_floats(std::int64_t D, std::int64_t Dv) {
    return Products::query_floats(D) + Products::query_floats(Dv) + (pair_elements(D) + pair_elements(Dv)) / 2 +
           kTile * kTile + stage_floats(D, Dv);
  }
  static std::int64_t d_q_floats(std::int64_t D) { return Products::sum_floats(D); }
  static std::int64_t stage_floats(std::int64_t D, std::int64_t Dv) {
    return Simd::kLanes * round_up(D > Dv ? D : Dv, kTile);
  }

  static bool load_keys(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t count, std::int64_t D,
                        std::int64_t Dv, float* buffer, Keys& keys) {
    keys.count = count;
    keys.rows = k;
    keys.rows.base = k.row(j);
    keys.d_k = buffer;
    keys.d_v = keys.d_k + kTile * blocked(D);
    const std::int64_t sums = kTile * (blocked(D) + blocked(Dv));
    for (std::int64_t n = 0; n < sums; n += Simd::kLanes) Simd::store(buffer + n, Simd::zero());
    buffer += sums;
    keys.k = Products::load(k, k, j, count, D, D, buffer);
    keys.v = Products::load(v, v, j, count, Dv, 0, buffer + Products::tile_floats(D, D));
    return keys.k.finite;
  }

  static bool load_queries(const std::byte* const* q, const std::byte* const* d_out, std::int64_t lanes, DType dtype,
                           std::int64_t D, std::int64_t Dv, float sign, float* buffer, Queries& queries) {
    queries.lanes = lanes;
    queries.sign = sign;
    queries.q_rows = q;
    queries.d_out_rows = d_out;
    queries.q = buffer;
    queries.d_out = queries.q + Products::query_floats(D);
    queries.q_pairs = reinterpret_cast<std::uint16_t*>(queries.d_out + Products::query_floats(Dv));
    queries.d_out_pairs = queries.q_pairs + pair_elements(D);
    queries.rows = queries.d_out_pairs + pair_elements(Dv);
    queries.pairs = queries.rows + kTile * kTile;
    auto* stage = reinterpret_cast<float*>(queries.pairs + kTile * kTile);
    Products::pack_queries(q, dtype, D, sign, stage, queries.q);
    Products::pack_queries(d_out, dtype, Dv, 1, stage, queries.d_out);
    const bool finite_q = pack_rows(q, lanes, D, sign, queries.q_pairs);
    const bool finite_d_out = pack_rows(d_out, lanes, Dv, 1, queries.d_out_pairs);
    return finite_q && finite_d_out;
  }

  static void scores(const Keys& keys, const Queries& queries, std::int64_t D, float* s) {
    Products::scores(keys.k, queries.q, D, queries.lanes, s);
  }

  static void d_weights(const Keys& keys, const Queries& queries, std::int64_t Dv, float* d_weights) {
    Products::scores(keys.v, queries.d_out, Dv, queries.lanes, d_weights);
  }

  static void add_d_v(const Keys& keys, const Queries& queries, std::int64_t Dv, const float* weights) {
    write_rows(weights, keys.count, queries);
    add_rows(queries, keys.count, queries.d_out_pairs, Dv, keys.d_v);
  }

  static void add_d_k(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores) {
    write_rows(d_scores, keys.count, queries);
    add_rows(queries, keys.count, queries.q_pairs, D, keys.d_k);
  }

  /// d_q is [D][kTile lanes].
  static void add_d_q(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores, float* d_q) {
    Products::pack_weights(d_scores, keys.count, queries.lanes, queries.pairs);
    Products::accumulate(keys.k, 1, 0, queries.pairs, D, queries.lanes, d_q);
  }

  /// Row `n` of d_k or d_v, times `factor`.
  static void store_row(const float* sums, std::int64_t n, std::int64_t width, float factor, DType dtype,
                        std::byte* row) {
    for (std::int64_t d = 0; d < width; d += kTile) {
      cpu::store_row<Simd>(sums + d * kTile + n * kTile, factor, width - d < kTile ? width - d : kTile, dtype,
                           row + d * bytes_of(dtype));
    }
  }

  /// rows[n] = d_q of lane `lane` + n, for kLanes lanes; rows are round_up(D, kLanes) apart.
  static void unpack_d_q(const float* d_q, std::int64_t D, std::int64_t lane, float* rows) {
    Products::unpack_sums(d_q, D, lane, rows);
  }

  /// Adds what the products left out for one visible pair.
  static void add_unbounded(const Keys& keys, const Queries& queries, std::int64_t c, std::int64_t lane, float weight,
                            float d_score, std::int64_t D, std::int64_t Dv, float* d_q) {
    for (std::int64_t d = 0; d < Dv; ++d) {
      add_if_unbounded(bf16_at(queries.d_out_rows[lane], d), weight, sum_at(keys.d_v, c, d));
    }
    for (std::int64_t d = 0; d < D; ++d) {
      add_if_unbounded(bf16_at(queries.q_rows[lane], d) * queries.sign, d_score, sum_at(keys.d_k, c, d));
      add_if_unbounded(bf16_at(keys.rows.row(c), d), d_score, d_q[d * kTile + lane]);
    }
  }

 private:
  static std::int64_t blocked(std::int64_t width) { return round_up(width, kTile); }
  static std::int64_t pair_elements(std::int64_t width) { return round_up(width, 2 * kSide) * kTile; }

  static float& sum_at(float* sums, std::int64_t c, std::int64_t d) {
    return sums[d / kTile * kTile * kTile + c * kTile + d % kTile];
  }

  // Pairs of rows interleaved, zeros beyond the last lane and element; what is not finite becomes 0.
  static bool pack_rows(const std::byte* const* rows, std::int64_t lanes, std::int64_t width, float sign,
                        std::uint16_t* to) {
    __mmask16 unbounded = 0;
    const __m512i flip = _mm512_set1_epi32(sign < 0 ? static_cast<int>(0x80008000U) : 0);
    for (std::int64_t d = 0; d < round_up(width, 2 * kSide); d += kSide) {
      const auto columns = static_cast<__mmask16>(d + kSide <= width ? 0xFFFF
                                                  : d < width        ? (1U << (width - d)) - 1
                                                                     : 0);
      for (std::int64_t lane = 0; lane < kTile; lane += 2) {
        const __m512i even = row_part(rows, lane, lanes, sign == 0 ? __mmask16{0} : columns, d, unbounded);
        const __m512i odd = row_part(rows, lane + 1, lanes, sign == 0 ? __mmask16{0} : columns, d, unbounded);
        const __m512i both = _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
        _mm512_storeu_si512(to + (d / kSide * kTile + lane) * kSide, _mm512_xor_si512(both, flip));
      }
    }
    return unbounded == 0;
  }

  [[gnu::always_inline]] static __m512i row_part(const std::byte* const* rows, std::int64_t lane, std::int64_t lanes,
                                                 __mmask16 columns, std::int64_t d, __mmask16& unbounded) {
    if (lane >= lanes || columns == 0) return _mm512_setzero_si512();
    const __m512i x = _mm512_cvtepu16_epi32(
        _mm256_maskz_loadu_epi16(columns, reinterpret_cast<const std::uint16_t*>(rows[lane]) + d));
    const __m512i exponent = _mm512_set1_epi32(Bf16::kExponent);
    const __mmask16 infinite = _mm512_cmpeq_epi32_mask(_mm512_and_si512(x, exponent), exponent);
    unbounded |= infinite;
    return _mm512_maskz_mov_epi32(static_cast<__mmask16>(~infinite), x);
  }

  // How many lanes from `lane` on are queries.
  static __mmask16 used(std::int64_t lane, const Queries& queries) { return mask_of(queries.lanes - lane); }

  // A tile of pairs as rows of bf16; lanes beyond the last, NaN where a key is, are 0.
  static void write_rows(const float* tile, std::int64_t keys, const Queries& queries) {
    for (std::int64_t lane = 0; lane < kTile; lane += kDepth) {
      const __mmask16 low = used(lane, queries);
      const __mmask16 high = used(lane + kSide, queries);
      for (std::int64_t c = 0; c < keys; ++c) {
        const float* from = tile + c * kTile + lane;
        const __m512 first = _mm512_maskz_loadu_ps(low, from);
        const __m512 second = _mm512_maskz_loadu_ps(high, from + kSide);
        _mm512_storeu_si512(queries.rows + c * kTile + lane,
                            reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
      }
    }
  }

  // sums[key][d] += sum over lanes of rows[key][lane] * pairs[lane][d]
  static void add_rows(const Queries& queries, std::int64_t keys, const std::uint16_t* pairs, std::int64_t width,
                       float* sums) {
    for (std::int64_t c = 0; c < keys; c += 2 * kSide) {
      for (std::int64_t d = 0; d < width; d += 2 * kSide) {
        multiply<Bf16Tiles, Sum::onto, 2>({.left = reinterpret_cast<const std::byte*>(queries.rows + c * kTile),
                                           .left_stride = kTile * 2,
                                           .left_next = kSide * kTile * 2,
                                           .left_step = kDepth * 2,
                                           .left_run = 0,
                                           .right = pairs + d * kTile,
                                           .right_next = 2 * kTileElements,
                                           .right_run = 0,
                                           .sums = &sum_at(sums, c, d)},
                                          1);
      }
    }
  }
};

}  // namespace qkv::kernels::cpu::amx
