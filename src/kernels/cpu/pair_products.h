// The products of a block of 64 queries with one tile of keys and values in bf16, done by the vector unit in pairs: of
// elements of D for the scores, of keys for the sums. Sums are f32.
//
// Lanes lie as in FmaProducts; a pair has the place of a float. Keys are broadcast from rows as they lie in memory. Of
// values, two rows at a time are interleaved, once for all blocks that share them. Weights take the place of their
// scores, two keys in one. Subnormal elements count as 0, as the instructions have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/pairs.h"

namespace qkv::kernels::cpu {

/// `Dots` is a Simd whose fma() multiplies pairs.
template <class S, class Dots>
class PairProducts : public LaneSums<S> {
  using Fma = FmaProducts<S>;

 public:
  static constexpr std::int64_t kWidth = LaneSums<S>::kWidth;
  static constexpr bool kChecksSums = false;

  struct Tile {
    PairRows k;      // [key][D / 2]
    const float* v;  // [key / 2][round_up(Dv, kLanes)]
    std::int64_t keys;
    bool finite;  // all of v
  };

  static std::int64_t query_floats(std::int64_t D) { return pairs_of<S>(D) * kTile; }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return kTile * pairs_of<S>(D) + kTile / 2 * round_up(Dv, S::kLanes);
  }

  /// q becomes [strip][D / 2][lane].
  static void pack_queries(const std::byte* const* rows, DType /*bf16*/, std::int64_t D, float sign, float* stage,
                           float* q) {
    const std::int64_t pairs = pairs_of<S>(D);
    for (std::int64_t lane = 0; lane < kTile && rows[lane] != nullptr; lane += S::kLanes) {
      for (std::int64_t n = 0; n < S::kLanes; ++n) copy_pairs<S>(rows[lane + n], D, sign, stage + n * pairs);
      float* strip = q + lane / kWidth * pairs * kWidth + lane % kWidth;
      for (std::int64_t d = 0; d < pairs; d += S::kLanes) {
        transpose_block<S>(stage + d, pairs, strip + d * kWidth, kWidth);
      }
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    float* values = buffer + kTile * pairs_of<S>(D);
    Tile tile = {.k = pair_rows<S>(k, j, keys, D, buffer), .v = values, .keys = keys, .finite = true};
    tile.finite = interleave_rows<S>([&](std::int64_t c) { return v.row(j + c); }, keys, Dv, 1, values);
    return tile;
  }

  /// s[strip][key][lane] = k . q of the keys in reach
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes,
                     const Reach<S, kWidth>& reach, float* s) {
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      PairRows k = tile.k;
      k.data += begin * k.row_stride;
      product_across<Dots, Sum::fresh>(Fma::strip_of(lanes, lane), end - begin, k, q + lane * pairs_of<S>(D),
                                       (D + 1) / 2, s + lane * kTile + begin * kWidth, kWidth);
    }
  }

  /// sums[strip][d][lane] += sum over keys in reach of v[key][d] * the weight at [strip][key / 2][lane]
  static void accumulate(const Tile& tile, const float* w, std::int64_t Dv, std::int64_t lanes,
                         const Reach<S, kWidth>& reach, float* sums) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      const Broadcast v = {.data = tile.v + begin / 2 * padded, .row_stride = 1, .step_stride = padded};
      product_across<Dots, Sum::onto>(Fma::strip_of(lanes, lane), Dv, v, w + lane * kTile + begin / 2 * kWidth,
                                      (end - begin + 1) / 2, sums + lane * padded, kWidth);
    }
  }

  /// Puts the weights of two keys where the scores of an earlier one were: what is written has been read.
  struct Weights {
    static constexpr float kLargestTotal = InPlace<S, kWidth>::kLargestTotal;
    float* s;

    [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, typename S::F even,
                                           typename S::F odd) const {
      S::store(s + TileSoftmax<S, kWidth>::offset_of(lane) + c / 2 * kWidth, S::pairs(even, odd));
    }
  };
};

}  // namespace qkv::kernels::cpu
