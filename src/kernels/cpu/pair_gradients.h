// The five products of the backward pass for a block of 64 queries and one tile of keys in bf16, by the vector unit in
// pairs; sums in f32.
//
// Scores and d_weights pair the elements of a row, as on the way there. d_v and d_k pair queries: rows of weights and
// d_scores are rounded as they lie, and rows of d_out and q are interleaved. d_q pairs keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/fma_gradients.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/pairs.h"
#include "kernels/cpu/product.h"

namespace qkv::kernels::cpu {

/// `Dots` is a Simd whose fma() multiplies pairs.
template <class S, class Dots>
class PairGradients {
  using Fma = FmaGradients<S>;

 public:
  using Simd = S;
  static constexpr std::int64_t kWidth = kTile;  // of a row of a tile of pairs

  struct Keys {
    PairRows k;  // [key][D / 2]
    PairRows v;
    float* k_pairs;  // [key / 2][D], what is not finite is 0
    float* d_k;      // [key][D]
    float* d_v;
    std::int64_t count;
    KvRows rows;  // of k, from the first on
  };

  struct Queries {
    float* q;            // [D / 2][kTile lanes]
    float* d_out;        // [Dv / 2][kTile lanes]
    float* q_pairs;      // [lane / 2][D], what is not finite is 0
    float* d_out_pairs;  // [lane / 2][Dv], likewise
    float* tile;         // of weights or d_scores in pairs: [key][lane / 2] or [key / 2][lane]
    const std::byte* const* q_rows;
    const std::byte* const* d_out_rows;
    float sign;
    std::int64_t lanes;
  };

  static std::int64_t d_q_floats(std::int64_t D) { return Fma::d_q_floats(D); }
  static std::int64_t key_floats(std::int64_t D, std::int64_t Dv) {
    return kTile * (pairs_of<S>(D) + pairs_of<S>(Dv) + stride(D) + stride(Dv)) + kTile / 2 * stride(D);
  }
  static std::int64_t query_floats(std::int64_t D, std::int64_t Dv) {
    return kTile * (pairs_of<S>(D) + pairs_of<S>(Dv)) + kTile / 2 * (stride(D) + stride(Dv) + kTile) +
           S::kLanes * pairs_of<S>(D > Dv ? D : Dv);
  }

  /// Keys j to j + count; d_k and d_v become 0. `buffer` has key_floats(). True if all of k is finite.
  static bool load_keys(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t count, std::int64_t D,
                        std::int64_t Dv, float* buffer, Keys& keys) {
    keys.count = count;
    keys.rows = k;
    keys.rows.base = k.row(j);
    keys.d_k = buffer;
    keys.d_v = keys.d_k + kTile * stride(D);
    keys.k_pairs = keys.d_v + kTile * stride(Dv);
    float* copies = keys.k_pairs + kTile / 2 * stride(D);
    for (std::int64_t n = 0; n < kTile * (stride(D) + stride(Dv)); n += S::kLanes) S::store(buffer + n, S::zero());
    keys.k = pair_rows<S>(k, j, count, D, copies);
    keys.v = pair_rows<S>(v, j, count, Dv, copies + kTile * pairs_of<S>(D));
    return interleave_rows<S>([&](std::int64_t c) { return k.row(j + c); }, count, D, 1, keys.k_pairs);
  }

  /// rows[lane] point at D and Dv elements. `buffer` has query_floats(). True if all are finite.
  static bool load_queries(const std::byte* const* q, const std::byte* const* d_out, std::int64_t lanes, DType /*bf16*/,
                           std::int64_t D, std::int64_t Dv, float sign, float* buffer, Queries& queries) {
    queries.lanes = lanes;
    queries.sign = sign;
    queries.q_rows = q;
    queries.d_out_rows = d_out;
    queries.q = buffer;
    queries.d_out = queries.q + kTile * pairs_of<S>(D);
    queries.q_pairs = queries.d_out + kTile * pairs_of<S>(Dv);
    queries.d_out_pairs = queries.q_pairs + kTile / 2 * stride(D);
    queries.tile = queries.d_out_pairs + kTile / 2 * stride(Dv);
    float* stage = queries.tile + kTile / 2 * kTile;
    pack_across(q, lanes, D, sign, stage, queries.q);
    pack_across(d_out, lanes, Dv, 1, stage, queries.d_out);
    const bool finite_q =
        interleave_rows<S>([&](std::int64_t lane) { return q[lane]; }, lanes, D, sign, queries.q_pairs);
    const bool finite_d_out =
        interleave_rows<S>([&](std::int64_t lane) { return d_out[lane]; }, lanes, Dv, 1, queries.d_out_pairs);
    return finite_q && finite_d_out;
  }

  /// s[key][lane] = k . q
  static void scores(const Keys& keys, const Queries& queries, std::int64_t D, float* s) {
    product_across<Dots, Sum::fresh>(queries.lanes, keys.count, keys.k, queries.q, (D + 1) / 2, s, kTile);
  }

  /// d_weights[key][lane] = v . d_out
  static void d_weights(const Keys& keys, const Queries& queries, std::int64_t Dv, float* d_weights) {
    product_across<Dots, Sum::fresh>(queries.lanes, keys.count, keys.v, queries.d_out, (Dv + 1) / 2, d_weights, kTile);
  }

  static void add_d_v(const Keys& keys, const Queries& queries, std::int64_t Dv, const float* weights) {
    pair_queries(weights, keys.count, queries);
    add_rows(keys, queries, queries.d_out_pairs, Dv, keys.d_v);
  }

  static void add_d_k(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores) {
    pair_queries(d_scores, keys.count, queries);
    add_rows(keys, queries, queries.q_pairs, D, keys.d_k);
  }

  /// d_q is [lanes][stride(D)].
  static void add_d_q(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores, float* d_q) {
    pair_keys(d_scores, keys.count, queries);
    product_across<Dots, Sum::onto>(D, queries.lanes, TileBroadcast<1, kTile>{queries.tile}, keys.k_pairs,
                                    (keys.count + 1) / 2, d_q, stride(D));
  }

  static void store_row(const float* sums, std::int64_t n, std::int64_t width, float factor, DType dtype,
                        std::byte* row) {
    Fma::store_row(sums, n, width, factor, dtype, row);
  }
  static void unpack_d_q(const float* d_q, std::int64_t D, std::int64_t lane, float* rows) {
    Fma::unpack_d_q(d_q, D, lane, rows);
  }

  /// Adds what the products left out for one visible pair.
  static void add_unbounded(const Keys& keys, const Queries& queries, std::int64_t c, std::int64_t lane, float weight,
                            float d_score, std::int64_t D, std::int64_t Dv, float* d_q) {
    for (std::int64_t d = 0; d < Dv; ++d) {
      add_if_unbounded(bf16_at(queries.d_out_rows[lane], d), weight, keys.d_v[c * stride(Dv) + d]);
    }
    for (std::int64_t d = 0; d < D; ++d) {
      add_if_unbounded(bf16_at(queries.q_rows[lane], d) * queries.sign, d_score, keys.d_k[c * stride(D) + d]);
      add_if_unbounded(bf16_at(keys.rows.row(c), d), d_score, d_q[lane * stride(D) + d]);
    }
  }

 private:
  static std::int64_t stride(std::int64_t width) { return round_up(width, S::kLanes); }

  static void pack_across(const std::byte* const* rows, std::int64_t lanes, std::int64_t width, float sign,
                          float* stage, float* to) {
    const std::int64_t pairs = pairs_of<S>(width);
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      for (std::int64_t n = 0; n < S::kLanes; ++n) {
        copy_pairs<S>(lane + n < lanes ? rows[lane + n] : nullptr, width, sign, stage + n * pairs);
      }
      for (std::int64_t d = 0; d < pairs; d += S::kLanes) {
        transpose_block<S>(stage + d, pairs, to + d * kTile + lane, kTile);
      }
    }
  }

  // The lane beyond an odd last one, NaN where a key is, becomes 0.
  static void pair_queries(const float* tile, std::int64_t keys, const Queries& queries) {
    for (std::int64_t c = 0; c < keys; ++c) {
      float* to = queries.tile + c * kTile / 2;
      for (std::int64_t lane = 0; lane < queries.lanes; lane += 2 * S::kLanes) {
        const float* from = tile + c * kTile + lane;
        S::store(to + lane / 2, S::neighbours(S::load(from), S::load(from + S::kLanes)));
      }
      if (queries.lanes % 2 != 0) std::memset(reinterpret_cast<std::byte*>(to) + 2 * queries.lanes, 0, 2);
    }
  }

  static void pair_keys(const float* tile, std::int64_t keys, const Queries& queries) {
    for (std::int64_t c = 0; c < keys; c += 2) {
      for (std::int64_t lane = 0; lane < queries.lanes; lane += S::kLanes) {
        const float* even = tile + c * kTile + lane;
        S::store(queries.tile + c / 2 * kTile + lane,
                 S::pairs(S::load(even), c + 1 < keys ? S::load(even + kTile) : S::zero()));
      }
    }
  }

  // sums[key][d] += sum over lanes of the tile's [key][lane] * pairs[lane / 2][d]
  static void add_rows(const Keys& keys, const Queries& queries, const float* pairs, std::int64_t width, float* sums) {
    product_across<Dots, Sum::onto>(width, keys.count, TileBroadcast<kTile / 2, 1>{queries.tile}, pairs,
                                    (queries.lanes + 1) / 2, sums, stride(width));
  }
};

}  // namespace qkv::kernels::cpu
