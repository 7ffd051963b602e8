// The products of a block of 64 queries with one tile of keys and values in bf16, for vector units that multiply two
// rows of four elements with two others in one instruction. Sums are f32.
//
// Lanes lie as in FmaProducts. Queries and keys are quads of elements of D, weights and values quads of keys; see
// quads.h. Keys and values are packed once for all blocks that share them. Weights take the place of their scores, four
// keys in two. Subnormal elements count as 0, as the instruction has it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/fma_products.h"
#include "kernels/cpu/pairs.h"
#include "kernels/cpu/quads.h"

namespace qkv::kernels::cpu {

/// `S` also multiplies quads.
template <class S>
class QuadProducts : public LaneSums<S> {
  using Fma = FmaProducts<S>;
  static_assert(S::kLanes == 4 && S::kKeysAStep == kQuad);

 public:
  static constexpr std::int64_t kWidth = LaneSums<S>::kWidth;
  static constexpr bool kChecksSums = false;

  struct Tile {
    Quads k;  // [D / 4][half][kTile keys]
    Quads v;  // [key / 4][half][round_up(Dv, kLanes)]
    std::int64_t keys;
    bool finite;  // all of v
  };

  static std::int64_t query_floats(std::int64_t D) { return 2 * quads_of(D) * kTile; }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return query_floats(D) + kTile / 2 * round_up(Dv, S::kLanes) + pairs_of<S>(D);
  }

  /// q becomes [strip][D / 4][half][lane].
  static void pack_queries(const std::byte* const* rows, DType /*bf16*/, std::int64_t D, float sign, float* stage,
                           float* q) {
    const std::int64_t quads = quads_of(D);
    for (std::int64_t lane = 0; lane < kTile && rows[lane / S::kLanes * S::kLanes] != nullptr; ++lane) {
      copy_pairs<S>(rows[lane], D, sign, stage);
      set_column(stage, quads, lane % kWidth, kWidth, q + lane / kWidth * 2 * quads * kWidth);
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    float* values = buffer + query_floats(D);
    pack_keys(k, j, keys, D, values + kTile / 2 * round_up(Dv, S::kLanes), buffer);
    const bool finite = pack_values(v, j, keys, Dv, values);
    return {.k = {.data = buffer, .width = kTile},
            .v = {.data = values, .width = round_up(Dv, S::kLanes)},
            .keys = keys,
            .finite = finite};
  }

  /// s[strip][key][lane] = k . q of the keys in reach, and of up to three beyond
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes,
                     const Reach<S, kWidth>& reach, float* s) {
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      const Quads queries = {.data = q + 2 * lane * quads_of(D), .width = kWidth};
      quad_product<S, Sum::fresh>(Fma::strip_of(lanes, lane), end - begin, tile.k.from(0, begin), queries, quads_of(D),
                                  s + lane * kTile + begin * kWidth, kWidth);
    }
  }

  /// sums[strip][d][lane] += sum over keys in reach of v[key][d] * the weight in quads at [strip][key / 4]
  static void accumulate(const Tile& tile, const float* w, std::int64_t Dv, std::int64_t lanes,
                         const Reach<S, kWidth>& reach, float* sums) {
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      const Quads weights = {.data = w + lane * kTile + begin / 2 * kWidth, .width = kWidth};
      quad_product<S, Sum::onto>(Fma::strip_of(lanes, lane), Dv, tile.v.from(begin / kQuad, 0), weights,
                                 quads_of(end - begin), sums + lane * round_up(Dv, S::kLanes), kWidth);
    }
  }

  /// Puts the weights of four keys where the scores of two earlier ones were, which have been read. Two keys come at a
  /// time, in order; until the second two come, zeros stand for them.
  struct Weights {
    static constexpr float kLargestTotal = InPlace<S, kWidth>::kLargestTotal;
    float* s;

    [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, typename S::F even,
                                           typename S::F odd) const {
      float* to = s + TileSoftmax<S, kWidth>::offset_of(lane) + c / kQuad * 2 * kWidth;
      const typename S::F pairs = S::pairs(even, odd);
      if (c % kQuad == 0) return join_pairs<S>(pairs, S::zero(), to, kWidth);
      join_pairs<S>(S::even_of(S::load(to), S::load(to + kWidth)), pairs, to, kWidth);
    }
  };

 private:
  // Keys beyond the last, up to a multiple of four, are zeros.
  static void pack_keys(const KvRows& k, std::int64_t j, std::int64_t keys, std::int64_t D, float* stage, float* to) {
    for (std::int64_t n = 0; n < round_up(keys, 4); ++n) {
      copy_pairs<S>(n < keys ? k.row(j + n) : nullptr, D, 1, stage);
      set_column(stage, quads_of(D), n, kTile, to);
    }
  }

  // What is not finite becomes 0; true if there was no such element.
  static bool pack_values(const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t Dv, float* to) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    const bool finite = interleave_rows<S>([&](std::int64_t c) { return v.row(j + c); }, keys, Dv, 1, to);
    for (std::int64_t c = 0; c < keys; c += kQuad) {
      float* first = to + c / 2 * padded;
      for (std::int64_t d = 0; d < padded; d += S::kLanes) {
        const typename S::F second = c + 2 < keys ? S::load(first + padded + d) : S::zero();
        join_pairs<S>(S::load(first + d), second, first + d, padded);
      }
    }
    return finite;
  }
};

}  // namespace qkv::kernels::cpu
