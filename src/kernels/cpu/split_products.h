// The products of a block of 64 queries with one tile of keys and values in f32, done by the AMX tile unit in three
// parts of bf16 each; sums in f32.
//
// As amx::Products, with three registers for one: keys and values are split when a tile is loaded, queries when they
// are packed, weights while they are made. The sums of two tiles are made apart and then added to the block's.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/amx_products.h"
#include "kernels/cpu/split_parts.h"

namespace qkv::kernels::cpu::amx {

/// Weights of 2^-126 and more split exactly once they are multiplied by 2^24: then no part lies below 2^-126.
struct SplitWeights {
  static constexpr float kLargestTotal = 0x1p16F;
  static constexpr float kWeightScale = 0x1p24F;
  static constexpr double kMostDropout = 1 - 0x1p-20;  // so that sums stay finite
};

/// Whether numbers split exactly, and their products neither overflow nor come near 2^-126: each is 0, or at least
/// 2^-50 and below 2^kBelow.
template <int kBelow>
class Splittable {
 public:
  /// Of the numbers times `factor`.
  void see(const std::byte* row, std::int64_t count, float factor = 1) {
    const auto* floats = reinterpret_cast<const float*>(row);
    const __m512 times = _mm512_set1_ps(factor);
    for (std::int64_t d = 0; d < count; d += kSide) {
      see(_mm512_castps_si512(_mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(count - d), floats + d), times)));
    }
  }
  [[nodiscard]] bool all() const { return outside_ == 0; }

 private:
  void see(__m512i bits) {
    constexpr int kLeast = 77 << 23;  // 2^-50
    constexpr int kRange = (kBelow + 50) << 23;
    const __m512i size = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 nonzero = _mm512_test_epi32_mask(size, size);
    outside_ |= _mm512_mask_cmpge_epu32_mask(nonzero, _mm512_sub_epi32(size, _mm512_set1_epi32(kLeast)),
                                             _mm512_set1_epi32(kRange));
  }

  __mmask16 outside_ = 0;
};

/// Those of the forward pass.
inline constexpr int kForwardBelow = 50;
/// Those of the backward pass: d_scores, products of two of them and of weights of 2^10 at most, are then below 2^60.
inline constexpr int kBackwardBelow = 20;

/// For numbers that are Splittable.
class SplitProducts : public BlockSums<SplitWeights> {
 public:
  static constexpr std::int64_t kScoreSteps = 2;
  // Whose values and weights of 32 rows and lanes fill the first-level cache: 48 KiB.
  static constexpr std::int64_t kTilesAtOnce = 2;
  static constexpr std::int64_t kWeightElements = kParts * kTile * kTile;

  struct Tile {
    const std::uint16_t* k;  // [part][4 groups of keys][D / 32] registers of 16 keys x 32 elements
    const std::uint16_t* v;  // [part][Dv / 16][2] registers of 16 elements of Dv x 32 keys
    std::int64_t keys;
    bool finite = true;  // all of v
  };

  static std::int64_t query_floats(std::int64_t D) { return kParts * round_up(D, kDepth) * kTile / 2; }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return kParts * kTile * (round_up(D, kDepth) + round_up(Dv, 2 * kSide)) / 2;
  }

  /// q becomes [part][4 groups of lanes][D / 32] registers of 16 pairs of D x 16 lanes.
  static void pack_queries(const std::byte* const* rows, DType /*f32*/, std::int64_t D, float sign, float* /*stage*/,
                           float* q) {
    const __m512 factor = _mm512_set1_ps(sign);
    auto* to = reinterpret_cast<std::uint16_t*>(q);
    for (std::int64_t lane = 0; lane < kTile; lane += kSide) {
      for (std::int64_t d = 0; d < D; d += kDepth, to += kTileElements) {
        const auto load = [&](std::int64_t n) {
          const Floats32 x = floats_of(rows[lane + n], d, D);
          return Floats32{_mm512_mul_ps(x.first, factor), _mm512_mul_ps(x.second, factor)};
        };
        split_register<Words::as_they_are, Turned::yes>(load, to, kTile * round_up(D, kDepth));
      }
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    auto* k_parts = reinterpret_cast<std::uint16_t*>(buffer);
    std::uint16_t* v_parts = k_parts + kParts * kTile * round_up(D, kDepth);
    split_keys(k, j, keys, D, k_parts);
    split_values(v, j, keys, Dv, v_parts);
    return {.k = k_parts, .v = v_parts, .keys = keys};
  }

  /// s[key][lane] = k . q
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, float* s) {
    const std::int64_t steps = round_up(D, kDepth) / kDepth;
    for (std::int64_t lane = 0; lane < lanes; lane += 2 * kSide) {
      const SplitOperand right = scored(reinterpret_cast<const std::uint16_t*>(q), lane, steps);
      for (std::int64_t c = 0; c < tile.keys; c += 2 * kSide) {
        const SplitOperand left = scored(tile.k, c, steps);
        float* to = s + c * kTile + lane;
        if (steps % kScoreSteps == 0) {
          multiply_parts<kScoreSteps>(left, right, steps / kScoreSteps, to, kTile);
        } else {
          multiply_parts<1>(in_single_steps(left), in_single_steps(right), steps, to, kTile);
        }
      }
    }
  }

  /// sums[d][lane] += sum over keys of v[key][d] * weight, over `tiles` tiles whose values lie tile_bytes() apart and
  /// whose packed weights follow each other.
  static void accumulate(const Tile& first, std::int64_t tiles, std::int64_t tile_bytes, const std::uint16_t* weights,
                         std::int64_t Dv, std::int64_t lanes, float* sums) {
    alignas(64) float fresh[4 * kSide * kSide];
    for (std::int64_t lane = 0; lane < lanes; lane += 2 * kSide) {
      const SplitOperand right = {.first = weights + lane * kDepth * 2,
                                  .part = kTile * kTile,
                                  .next = 2 * kTileElements,
                                  .step = kTileElements,
                                  .run = kWeightElements};
      for (std::int64_t d = 0; d < Dv; d += 2 * kSide) {
        const SplitOperand left = {.first = first.v + d * kDepth * 2,
                                   .part = kTile * round_up(Dv, 2 * kSide),
                                   .next = 2 * kTileElements,
                                   .step = kTileElements,
                                   .run = tile_bytes / static_cast<std::int64_t>(sizeof(std::uint16_t))};
        for (std::int64_t n = 0; n < tiles; n += kTilesAtOnce) {
          const std::int64_t runs = tiles - n < kTilesAtOnce ? tiles - n : kTilesAtOnce;
          multiply_parts<2>(left.from_run(n), right.from_run(n), runs, fresh, 2 * kSide);
          add_quad(fresh, sums + d * kTile + lane);
        }
      }
    }
  }

  /// The place of a tile's weights: pairs of keys of 16 lanes.
  struct Packing {
    static constexpr float kLargestTotal = SplitWeights::kLargestTotal;
    std::uint16_t* to;

    [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, __m512 even, __m512 odd) const {
      const __m512 factor = _mm512_set1_ps(SplitWeights::kWeightScale);
      const Parts parts = parts_of({_mm512_mul_ps(even, factor), _mm512_mul_ps(odd, factor)});
      std::uint16_t* row = to + lane * kDepth * 2 + c / 2 * kDepth;
      _mm512_store_si512(row, paired(parts.high));
      _mm512_store_si512(row + kTile * kTile, paired(parts.middle));
      _mm512_store_si512(row + 2 * kTile * kTile, paired(parts.low));
    }
  };

  /// `weights` has kWeightElements: [part][4][2] registers of 16 pairs of keys x 16 lanes.
  static Packing packing(std::int64_t keys, std::uint16_t* weights) {
    // Keys beyond the last weigh nothing.
    if (keys < kTile) std::memset(weights, 0, kWeightElements * sizeof(std::uint16_t));
    return {weights};
  }

  static void pack_weights(const float* w, std::int64_t keys, std::int64_t lanes, std::uint16_t* weights) {
    BlockSums::pack_weights(w, keys, lanes, packing(keys, weights));
  }

 private:
  // Elements d to d + 32 of a row of `count`; zeros for no row and beyond the last.
  [[gnu::always_inline]] static Floats32 floats_of(const std::byte* row, std::int64_t d, std::int64_t count) {
    if (row == nullptr) return {_mm512_setzero_ps(), _mm512_setzero_ps()};
    const auto* from = reinterpret_cast<const float*>(row) + d;
    return {_mm512_maskz_loadu_ps(mask_of(count - d), from),
            _mm512_maskz_loadu_ps(mask_of(count - d - kSide), from + kSide)};
  }

  static void split_keys(const KvRows& k, std::int64_t j, std::int64_t keys, std::int64_t D, std::uint16_t* to) {
    for (std::int64_t c = 0; c < kTile; c += kSide) {
      for (std::int64_t d = 0; d < D; d += kDepth, to += kTileElements) {
        const auto load = [&](std::int64_t n) { return floats_of(c + n < keys ? k.row(j + c + n) : nullptr, d, D); };
        split_register<Words::as_they_are, Turned::no>(load, to, kTile * round_up(D, kDepth));
      }
    }
  }

  static void split_values(const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t Dv, std::uint16_t* to) {
    for (std::int64_t d = 0; d < round_up(Dv, 2 * kSide); d += kSide) {
      const __mmask16 columns = mask_of(Dv - d);
      const auto value = [&](std::int64_t key) {
        if (key >= keys) return _mm512_setzero_ps();
        return _mm512_maskz_loadu_ps(columns, reinterpret_cast<const float*>(v.row(j + key)) + d);
      };
      for (std::int64_t c = 0; c < kTile; c += kDepth, to += kTileElements) {
        const auto load = [&](std::int64_t n) { return Floats32{value(c + 2 * n), value(c + 2 * n + 1)}; };
        split_register<Words::paired, Turned::yes>(load, to, kTile * round_up(Dv, 2 * kSide));
      }
    }
  }

  // Queries or keys from `lane` on.
  [[gnu::always_inline]] static SplitOperand scored(const std::uint16_t* parts, std::int64_t lane, std::int64_t steps) {
    return {.first = parts + lane / kSide * steps * kTileElements,
            .part = kTile / kSide * steps * kTileElements,
            .next = steps * kTileElements,
            .step = kTileElements,
            .run = kScoreSteps * kTileElements};
  }

  [[gnu::always_inline]] static SplitOperand in_single_steps(SplitOperand operand) {
    operand.run = operand.step;
    return operand;
  }

  static void add_quad(const float* fresh, float* sums) {
    for (std::int64_t n = 0; n < 2 * kSide; ++n, fresh += 2 * kSide, sums += kTile) {
      Simd::store(sums, Simd::add(Simd::load(sums), Simd::load(fresh)));
      Simd::store(sums + kSide, Simd::add(Simd::load(sums + kSide), Simd::load(fresh + kSide)));
    }
  }
};

}  // namespace qkv::kernels::cpu::amx
