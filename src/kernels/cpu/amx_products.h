// The products of a block of 64 queries with one tile of keys and values in bf16 or f16, done by the AMX tile unit;
// sums in f32.
//
// Scores are K q^T and sums V^T w: keys are the rows of the left operand as they lie in memory, queries and weights its
// right operand in pairs (of elements of D, of keys), which the softmax's layout of lanes gives without a shuffle
// across rows. Only the values are transposed, once for all blocks that share them.
// Subnormal elements of bf16 count as 0 in these products, as the instruction has it; those of f16 count.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/amx_elements.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/fma_products.h"

namespace qkv::kernels::cpu::amx {

/// A block's sums of values, [Dv][lane], of weights that are stored times Weights::kWeightScale.
template <class Weights>
class BlockSums : public LaneSums<amx::Simd> {
  using Base = LaneSums<amx::Simd>;
  static_assert(Base::kWidth == kTile);

 public:
  static std::int64_t sum_floats(std::int64_t Dv) { return round_up(Dv, 2 * kSide) * kTile; }

  static void unpack_sums(const float* sums, std::int64_t Dv, std::int64_t lane, float* rows) {
    Base::unpack_sums(sums, Dv, lane, rows);
    if constexpr (Weights::kWeightScale != 1) {
      const __m512 factor = Simd::splat(1 / Weights::kWeightScale);
      for (std::int64_t n = 0; n < kSide * round_up(Dv, kSide); n += kSide) {
        Simd::store(rows + n, Simd::mul(Simd::load(rows + n), factor));
      }
    }
  }

 protected:
  /// Weights [key][lane], two keys at a time.
  template <class Packing>
  static void pack_weights(const float* w, std::int64_t keys, std::int64_t lanes, const Packing& to) {
    for (std::int64_t lane = 0; lane < lanes; lane += kSide) {
      for (std::int64_t c = 0; c < keys; c += 2) {
        const float* even = w + c * kTile + lane;
        to(lane, c, Simd::load(even), c + 1 < keys ? Simd::load(even + kTile) : Simd::zero());
      }
    }
  }
};

/// `Tiles`: Bf16Tiles or F16Tiles, or the same done in another way.
template <class Tiles>
class Products : public BlockSums<Tiles> {
  using Base = BlockSums<Tiles>;

 public:
  using Simd = amx::Simd;
  static constexpr std::int64_t kScoreSteps = 2;
  static constexpr std::int64_t kWeightElements = kTile * kTile;  // of a tile

  struct Tile {
    const std::byte* k;  // rows of round_up(D, 32) elements, kTile of them
    std::int64_t k_stride;
    const std::uint16_t* v;  // [Dv / 16][2] registers of 16 elements of Dv x 32 keys
    std::int64_t keys;
    bool finite;  // all of v
  };

  static std::int64_t query_floats(std::int64_t D) { return round_up(D, kDepth) * kTile / 2; }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return kTile * (round_up(D, kDepth) + round_up(Dv, 2 * kSide)) / 2;
  }

  /// q becomes [4 groups of lanes][D / 32] registers of 16 pairs of D x 16 lanes.
  static void pack_queries(const std::byte* const* rows, DType /*that of Tiles*/, std::int64_t D, float sign,
                           float* stage, float* q) {
    const std::int64_t padded = round_up(D, kDepth);
    for (std::int64_t lane = 0; lane < kTile; lane += kSide) {
      const std::byte* staged[kSide];
      for (std::int64_t n = 0; n < kSide; ++n) {
        const bool as_it_is = rows[lane + n] != nullptr && D == padded && sign == 1;
        auto* copy = reinterpret_cast<std::uint16_t*>(stage) + n * padded;
        if (!as_it_is) stage_query(rows[lane + n], D, sign, copy);
        staged[n] = as_it_is ? rows[lane + n] : reinterpret_cast<const std::byte*>(copy);
      }
      for (std::int64_t d = 0; d < padded; d += kDepth) {
        pack_pairs(staged, d, q + (lane / kSide * (padded / kDepth) + d / kDepth) * (kTileElements / 2));
      }
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    auto* copied = reinterpret_cast<std::uint16_t*>(buffer);
    std::uint16_t* values = copied + kTile * round_up(D, kDepth);
    Tile tile = {.k = reinterpret_cast<const std::byte*>(copied),
                 .k_stride = round_up(D, kDepth) * 2,
                 .v = values,
                 .keys = keys,
                 .finite = true};
    if (keys == kTile && D % kDepth == 0 && k.run(j) >= keys) {
      tile.k = k.row(j);
      tile.k_stride = k.row_stride_bytes;
    } else {
      copy_keys(k, j, keys, D, copied);
    }
    for (std::int64_t d = 0; d < round_up(Dv, 2 * kSide); d += kSide) {
      for (std::int64_t c = 0; c < kTile; c += kDepth) {
        tile.finite &=
            transpose_values(v, j + c, keys - c, d, Dv, values + (d / kSide * 2 + c / kDepth) * kTileElements);
      }
    }
    return tile;
  }

  /// s[key][lane] = k . q
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, float* s) {
    const std::int64_t steps = round_up(D, kDepth) / kDepth;
    const auto* queries = reinterpret_cast<const std::uint16_t*>(q);
    for (std::int64_t lane = 0; lane < lanes; lane += 2 * kSide) {
      for (std::int64_t c = 0; c < tile.keys; c += 2 * kSide) {
        const Quad quad = {.left = tile.k + c * tile.k_stride,
                           .left_stride = tile.k_stride,
                           .left_next = kSide * tile.k_stride,
                           .left_step = kDepth * 2,
                           .left_run = kScoreSteps * kDepth * 2,
                           .right = queries + lane / kSide * steps * kTileElements,
                           .right_next = steps * kTileElements,
                           .right_run = kScoreSteps * kTileElements,
                           .sums = s + c * kTile + lane};
        if (steps % kScoreSteps == 0) {
          multiply<Tiles, Sum::fresh, kScoreSteps>(quad, steps / kScoreSteps);
        } else {
          Quad single = quad;
          single.left_run = kDepth * 2;
          single.right_run = kTileElements;
          multiply<Tiles, Sum::fresh, 1>(single, steps);
        }
      }
    }
  }

  /// sums[d][lane] += sum over keys of v[key][d] * weight, over `tiles` tiles whose values lie tile_bytes() apart and
  /// whose packed weights follow each other.
  static void accumulate(const Tile& first, std::int64_t tiles, std::int64_t tile_bytes, const std::uint16_t* weights,
                         std::int64_t Dv, std::int64_t lanes, float* sums) {
    for (std::int64_t lane = 0; lane < lanes; lane += 2 * kSide) {
      for (std::int64_t d = 0; d < Dv; d += 2 * kSide) {
        multiply<Tiles, Sum::onto, 2>(
            {.left = reinterpret_cast<const std::byte*>(first.v + d / kSide * 2 * kTileElements),
             .left_stride = 64,
             .left_next = 2 * kTileElements * 2,
             .left_step = kTileElements * 2,
             .left_run = tile_bytes,
             .right = weights + lane / kSide * 2 * kTileElements,
             .right_next = 2 * kTileElements,
             .right_run = kWeightElements,
             .sums = sums + d * kTile + lane},
            tiles);
      }
    }
  }

  /// The place of a tile's weights: pairs of keys of 16 lanes.
  struct Packing {
    static constexpr float kLargestTotal = Tiles::kLargestTotal;
    std::uint16_t* to;

    [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, __m512 even, __m512 odd) const {
      store_pairs(even, odd, to + lane / kSide * 2 * kTileElements + c / 2 * kDepth);
    }
  };

  /// `weights` has kWeightElements: [4][2] registers of 16 pairs of keys x 16 lanes.
  static Packing packing(std::int64_t keys, std::uint16_t* weights) {
    // Keys beyond the last weigh nothing.
    if (keys < kTile) std::memset(weights, 0, kWeightElements * 2);
    return {weights};
  }

  static void pack_weights(const float* w, std::int64_t keys, std::int64_t lanes, std::uint16_t* weights) {
    Base::pack_weights(w, keys, lanes, packing(keys, weights));
  }

 private:
  // Pairs are 32 bits wide, so they transpose as floats do.
  [[gnu::always_inline]] static void pack_pairs(const std::byte* const* rows, std::int64_t d, float* to) {
    __m512 pairs[kSide];
#pragma GCC unroll 16
    for (int n = 0; n < kSide; ++n) pairs[n] = _mm512_loadu_ps(rows[n] + d * 2);
    Simd::transpose(pairs);
#pragma GCC unroll 16
    for (int n = 0; n < kSide; ++n) _mm512_store_ps(to + n * kSide, pairs[n]);
  }

  static void stage_query(const std::byte* row, std::int64_t D, float sign, std::uint16_t* to) {
    const std::int64_t padded = round_up(D, kDepth);
    std::memset(to, 0, static_cast<std::size_t>(padded) * 2);
    if (row == nullptr) return;
    std::memcpy(to, row, static_cast<std::size_t>(D) * 2);
    if (sign == 1) return;
    for (std::int64_t d = 0; d < padded; d += Simd::kLanes) {
      Tiles::store(to + d, Simd::mul(Tiles::load(to + d), Simd::splat(sign)));
    }
  }

  // A register reads 16 whole rows.
  static void copy_keys(const KvRows& k, std::int64_t j, std::int64_t keys, std::int64_t D, std::uint16_t* to) {
    const std::int64_t padded = round_up(D, kDepth);
    std::memset(to, 0, static_cast<std::size_t>(kTile * padded) * 2);
    for (std::int64_t n = 0; n < keys; ++n) {
      std::memcpy(to + n * padded, k.row(j + n), static_cast<std::size_t>(D) * 2);
    }
  }

  // to[d][c] = v[j + c][d] for 16 elements of Dv and 32 keys, zeros beyond; elements that are not finite become 0.
  static bool transpose_values(const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t d, std::int64_t Dv,
                               std::uint16_t* to) {
    const __mmask16 columns = mask_of(Dv - d);
    __m512 pairs[kSide];
    __mmask16 unbounded = 0;
#pragma GCC unroll 16
    for (std::int64_t p = 0; p < kSide; ++p) {
      const __m512i even = value_row(v, j + 2 * p, 2 * p < keys ? columns : 0, d, unbounded);
      const __m512i odd = value_row(v, j + 2 * p + 1, 2 * p + 1 < keys ? columns : 0, d, unbounded);
      pairs[p] = _mm512_castsi512_ps(_mm512_or_si512(even, _mm512_slli_epi32(odd, 16)));
    }
    Simd::transpose(pairs);
#pragma GCC unroll 16
    for (std::int64_t p = 0; p < kSide; ++p) _mm512_store_ps(to + p * kDepth, pairs[p]);
    return unbounded == 0;
  }

  [[gnu::always_inline]] static __m512i value_row(const KvRows& v, std::int64_t j, __mmask16 columns, std::int64_t d,
                                                  __mmask16& unbounded) {
    if (columns == 0) return _mm512_setzero_si512();
    const auto* row = reinterpret_cast<const std::uint16_t*>(v.row(j)) + d;
    const __m512i x = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(columns, row));
    const __m512i exponent = _mm512_set1_epi32(Tiles::kExponent);
    const __mmask16 infinite = _mm512_cmpeq_epi32_mask(_mm512_and_si512(x, exponent), exponent);
    unbounded |= infinite;
    return _mm512_maskz_mov_epi32(static_cast<__mmask16>(~infinite), x);
  }

  // Two keys of 16 lanes become one row of pairs.
  [[gnu::always_inline]] static void store_pairs(__m512 even, __m512 odd, std::uint16_t* to) {
    alignas(64) static constexpr std::uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                  21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(_mm512_load_si512(kInterleave), Tiles::join(even, odd)));
  }
};

}  // namespace qkv::kernels::cpu::amx
