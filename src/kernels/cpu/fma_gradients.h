// The five products of the backward pass for a block of 64 queries and one tile of keys, by the vector unit in f32.
//
// Tiles of pairs lie as [key][kTile]: lanes are queries, as on the way there. Scores and d_weights have queries as
// their vectors, and take q and d_out transposed; the gradients have elements of a row as theirs, and take rows as they
// are.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

template <class S>
class FmaGradients {
 public:
  using Simd = S;
  static constexpr std::int64_t kWidth = kTile;  // of a row of a tile of pairs

  /// Rows of kTile keys, padded to whole vectors.
  struct Keys {
    float* k;         // as they are
    float* finite_k;  // those of k, or a copy in which what is not finite is 0
    float* v;
    float* d_k;
    float* d_v;
    std::int64_t count;
  };

  /// kTile queries; `lanes` of them count.
  struct Queries {
    float* q;             // [lanes][D], what is not finite is 0
    float* d_out;         // [lanes][Dv], likewise
    float* q_across;      // [D][kTile]
    float* d_out_across;  // [Dv][kTile]
    std::int64_t lanes;
  };

  static std::int64_t d_q_floats(std::int64_t D) { return kTile * stride(D); }

  static std::int64_t key_floats(std::int64_t D, std::int64_t Dv) { return kTile * (3 * stride(D) + 2 * stride(Dv)); }
  static std::int64_t query_floats(std::int64_t D, std::int64_t Dv) { return 2 * kTile * (stride(D) + stride(Dv)); }

  /// Keys j to j + count; d_k and d_v become 0. `buffer` has key_floats(). True if all of k is finite.
  static bool load_keys(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t count, std::int64_t D,
                        std::int64_t Dv, float* buffer, Keys& keys) {
    keys.count = count;
    keys.k = buffer;
    keys.v = keys.k + kTile * stride(D);
    keys.d_k = keys.v + kTile * stride(Dv);
    keys.d_v = keys.d_k + kTile * stride(D);
    keys.finite_k = keys.k;
    for (std::int64_t c = 0; c < count; ++c) {
      load_row<S>(k.row(j + c), k.dtype, D, k.scale(j + c), keys.k + c * stride(D));
      load_row<S>(v.row(j + c), v.dtype, Dv, v.scale(j + c), keys.v + c * stride(Dv));
    }
    for (std::int64_t n = 0; n < kTile * (stride(D) + stride(Dv)); n += S::kLanes) S::store(keys.d_k + n, S::zero());
    if (all_finite<S>(keys.k, count, stride(D), stride(D))) return true;
    keys.finite_k = keys.d_v + kTile * stride(Dv);
    copy_finite(keys.k, count * stride(D), keys.finite_k);
    return false;
  }

  /// rows[lane] point at D and Dv elements. `buffer` has query_floats(). True if all are finite.
  static bool load_queries(const std::byte* const* q, const std::byte* const* d_out, std::int64_t lanes, DType dtype,
                           std::int64_t D, std::int64_t Dv, float sign, float* buffer, Queries& queries) {
    queries.lanes = lanes;
    queries.q = buffer;
    queries.d_out = queries.q + kTile * stride(D);
    queries.q_across = queries.d_out + kTile * stride(Dv);
    queries.d_out_across = queries.q_across + kTile * stride(D);
    const bool finite_q = load_both_ways(q, lanes, dtype, D, sign, queries.q, queries.q_across);
    const bool finite_d_out = load_both_ways(d_out, lanes, dtype, Dv, 1, queries.d_out, queries.d_out_across);
    return finite_q && finite_d_out;
  }

  /// s[key][lane] = k . q
  static void scores(const Keys& keys, const Queries& queries, std::int64_t D, float* s) {
    product_across<S, Sum::fresh>(queries.lanes, keys.count, by_row(keys.k, D), queries.q_across, D, s, kTile);
  }

  /// d_weights[key][lane] = v . d_out
  static void d_weights(const Keys& keys, const Queries& queries, std::int64_t Dv, float* d_weights) {
    product_across<S, Sum::fresh>(queries.lanes, keys.count, by_row(keys.v, Dv), queries.d_out_across, Dv, d_weights,
                                  kTile);
  }

  static void add_d_v(const Keys& keys, const Queries& queries, std::int64_t Dv, const float* weights) {
    product_across<S, Sum::onto>(Dv, keys.count, TileBroadcast<kTile, 1>{weights}, queries.d_out, queries.lanes,
                                 keys.d_v, stride(Dv));
  }

  static void add_d_k(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores) {
    product_across<S, Sum::onto>(D, keys.count, TileBroadcast<kTile, 1>{d_scores}, queries.q, queries.lanes, keys.d_k,
                                 stride(D));
  }

  /// d_q is [lanes][stride(D)].
  static void add_d_q(const Keys& keys, const Queries& queries, std::int64_t D, const float* d_scores, float* d_q) {
    product_across<S, Sum::onto>(D, queries.lanes, TileBroadcast<1, kTile>{d_scores}, keys.finite_k, keys.count, d_q,
                                 stride(D));
  }

  /// Row `n` of d_k or d_v, times `factor`.
  static void store_row(const float* sums, std::int64_t n, std::int64_t width, float factor, DType dtype,
                        std::byte* row) {
    cpu::store_row<S>(sums + n * stride(width), factor, width, dtype, row);
  }

  /// rows[n] = d_q of lane `lane` + n, for kLanes lanes; rows are round_up(D, kLanes) apart.
  static void unpack_d_q(const float* d_q, std::int64_t D, std::int64_t lane, float* rows) {
    for (std::int64_t n = 0; n < S::kLanes * stride(D); n += S::kLanes) {
      S::store(rows + n, S::load(d_q + lane * stride(D) + n));
    }
  }

  /// Adds what the products left out for one visible pair.
  static void add_unbounded(const Keys& keys, const Queries& queries, std::int64_t c, std::int64_t lane, float weight,
                            float d_score, std::int64_t D, std::int64_t Dv, float* d_q) {
    for (std::int64_t d = 0; d < Dv; ++d) {
      add_if_unbounded(queries.d_out_across[d * kTile + lane], weight, keys.d_v[c * stride(Dv) + d]);
    }
    for (std::int64_t d = 0; d < D; ++d) {
      add_if_unbounded(queries.q_across[d * kTile + lane], d_score, keys.d_k[c * stride(D) + d]);
      add_if_unbounded(keys.k[c * stride(D) + d], d_score, d_q[lane * stride(D) + d]);
    }
  }

 private:
  static std::int64_t stride(std::int64_t width) { return round_up(width, S::kLanes); }

  static Broadcast by_row(const float* rows, std::int64_t width) {
    return {.data = rows, .row_stride = stride(width), .step_stride = 1};
  }

  static void copy_finite(const float* from, std::int64_t count, float* to) {
    for (std::int64_t n = 0; n < count; n += S::kLanes) {
      const typename S::F x = S::load(from + n);
      S::store(to + n, S::select(S::equal(S::mul(x, S::zero()), S::zero()), x, S::zero()));
    }
  }

  static bool load_both_ways(const std::byte* const* from, std::int64_t lanes, DType dtype, std::int64_t width,
                             float sign, float* rows, float* across) {
    const std::int64_t padded = stride(width);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      load_row<S>(from[lane], dtype, width, sign, rows + lane * padded);
    }
    for (std::int64_t n = lanes * padded; n < round_up(lanes, S::kLanes) * padded; n += S::kLanes) {
      S::store(rows + n, S::zero());
    }
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      for (std::int64_t d = 0; d < padded; d += S::kLanes) {
        transpose_block<S>(rows + lane * padded + d, padded, across + d * kTile + lane, kTile);
      }
    }
    if (all_finite<S>(rows, lanes, padded, padded)) return true;
    copy_finite(rows, lanes * padded, rows);
    return false;
  }
};

}  // namespace qkv::kernels::cpu
