// The products of a block of 64 queries with one tile of keys and values, done by the vector unit in f32.
//
// Lanes are queries, in strips of kWidth. A strip keeps q as [D][kWidth], its scores and weights as [keys][kWidth] and
// its sums of values as [Dv][kWidth], so that the keys and values are broadcast from rows as they lie in memory, and
// nothing of a softmax crosses lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/reach.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/softmax.h"

namespace qkv::kernels::cpu {

/// A block's sums of values, [strip][Dv][lane].
template <class S>
class LaneSums {
 public:
  using Simd = S;
  static constexpr std::int64_t kWidth = S::kLanes * S::kVectors;
  static constexpr std::int64_t kMostLanes = kTile;

  static std::int64_t sum_floats(std::int64_t Dv) { return round_up(Dv, S::kLanes) * kTile; }

  static void scale_sums(const float* factors, std::int64_t lanes, std::int64_t Dv, float* sums) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes; lane += S::kLanes) {
      const typename S::F factor = S::load(factors + lane);
      float* first = sums + lane / kWidth * padded * kWidth + lane % kWidth;
      for (std::int64_t d = 0; d < padded; ++d) {
        S::store(first + d * kWidth, S::mul(S::load(first + d * kWidth), factor));
      }
    }
  }

  static float& sum_at(float* sums, std::int64_t Dv, std::int64_t lane, std::int64_t d) {
    return sums[lane / kWidth * round_up(Dv, S::kLanes) * kWidth + d * kWidth + lane % kWidth];
  }

  /// rows[n][d] = sums of lane `lane` + n, for kLanes lanes; rows are round_up(Dv, kLanes) apart.
  static void unpack_sums(const float* sums, std::int64_t Dv, std::int64_t lane, float* rows) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    const float* strip = sums + lane / kWidth * padded * kWidth + lane % kWidth;
    for (std::int64_t d = 0; d < padded; d += S::kLanes) {
      transpose_block<S>(strip + d * kWidth, kWidth, rows + d, padded);
    }
  }
};

template <class S>
class FmaProducts : public LaneSums<S> {
 public:
  static constexpr std::int64_t kWidth = LaneSums<S>::kWidth;
  static constexpr bool kChecksSums = false;
  using Weights = InPlace<S, kWidth>;

  /// The loaded keys and values of a tile.
  struct Tile {
    Broadcast k;
    Broadcast v;
    std::int64_t keys;
    bool finite;  // all of v
  };

  static std::int64_t query_floats(std::int64_t D) { return round_up(D, S::kLanes) * kTile; }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return kTile * (round_up(D, S::kLanes) + round_up(Dv, S::kLanes));
  }

  /// rows[lane] points at D elements; null for lanes that stand for no query, which are the last ones. `stage` holds
  /// kLanes rows.
  static void pack_queries(const std::byte* const* rows, DType dtype, std::int64_t D, float sign, float* stage,
                           float* q) {
    const std::int64_t padded = round_up(D, S::kLanes);
    for (std::int64_t lane = 0; lane < kTile && rows[lane] != nullptr; lane += S::kLanes) {
      for (std::int64_t n = 0; n < S::kLanes; ++n) {
        float* row = stage + n * padded;
        if (rows[lane + n] != nullptr) {
          load_row<S>(rows[lane + n], dtype, D, sign, row);
        } else {
          for (std::int64_t d = 0; d < padded; d += S::kLanes) S::store(row + d, S::zero());
        }
      }
      float* strip = q + lane / kWidth * padded * kWidth + lane % kWidth;
      for (std::int64_t d = 0; d < padded; d += S::kLanes) {
        transpose_block<S>(stage + d, padded, strip + d * kWidth, kWidth);
      }
    }
  }

  /// Keys j to j + keys. `buffer` has tile_floats(); f32 rows stay where they are.
  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    Tile tile = {.k = rows_in_place_or_copied(k, j, keys, D, buffer), .v = {}, .keys = keys, .finite = true};
    float* values = buffer + kTile * round_up(D, S::kLanes);
    tile.v = rows_in_place_or_copied(v, j, keys, Dv, values);
    const std::int64_t padded = round_up(Dv, S::kLanes);
    tile.finite = all_finite<S>(tile.v.data, keys, padded, tile.v.row_stride);
    if (!tile.finite) tile.v = finite_copy(v, j, keys, Dv, values);
    tile.v = {.data = tile.v.data, .row_stride = 1, .step_stride = tile.v.row_stride};
    return tile;
  }

  /// s[strip][key][lane] = k . q of the keys in reach
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes,
                     const Reach<S, kWidth>& reach, float* s) {
    const std::int64_t padded = round_up(D, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      Broadcast k = tile.k;
      k.data += begin * k.row_stride;
      product_across<S, Sum::fresh>(strip_of(lanes, lane), end - begin, k, q + lane * padded, D,
                                    s + lane * kTile + begin * kWidth, kWidth);
    }
  }

  /// sums[strip][d][lane] += sum over keys in reach of v[key][d] * w[strip][key][lane]
  static void accumulate(const Tile& tile, const float* w, std::int64_t Dv, std::int64_t lanes,
                         const Reach<S, kWidth>& reach, float* sums) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      Broadcast v = tile.v;
      v.data += begin * v.step_stride;
      product_across<S, Sum::onto>(strip_of(lanes, lane), Dv, v, w + lane * kTile + begin * kWidth, end - begin,
                                   sums + lane * padded, kWidth);
    }
  }

  /// The lanes of the strip that begins at `lane`.
  static std::int64_t strip_of(std::int64_t lanes, std::int64_t lane) {
    return lanes - lane < kWidth ? lanes - lane : kWidth;
  }

 private:
  static Broadcast rows_in_place_or_copied(const KvRows& rows, std::int64_t j, std::int64_t keys, std::int64_t count,
                                           float* buffer) {
    // Rows a page apart would share one set of the cache.
    constexpr std::int64_t kPage = 4096;
    const bool in_place = rows.dtype == DType::f32 && rows.run(j) >= keys && count % S::kLanes == 0 &&
                          rows.row_stride_bytes > 0 && rows.row_stride_bytes % kPage != 0 &&
                          rows.row_stride_bytes % static_cast<std::int64_t>(sizeof(float)) == 0;
    if (in_place) {
      return {.data = reinterpret_cast<const float*>(rows.row(j)),
              .row_stride = rows.row_stride_bytes / static_cast<std::int64_t>(sizeof(float)),
              .step_stride = 1};
    }
    const std::int64_t padded = round_up(count, S::kLanes);
    for (std::int64_t n = 0; n < keys; ++n) {
      load_row<S>(rows.row(j + n), rows.dtype, count, rows.scale(j + n), buffer + n * padded);
    }
    return {.data = buffer, .row_stride = padded, .step_stride = 1};
  }

  // Elements that are not finite become 0; whoever sees them adds them on their own.
  static Broadcast finite_copy(const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t Dv, float* buffer) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    for (std::int64_t n = 0; n < keys; ++n) {
      load_finite_row<S>(v.row(j + n), v.dtype, Dv, v.scale(j + n), buffer + n * padded);
    }
    return {.data = buffer, .row_stride = padded, .step_stride = 1};
  }
};

}  // namespace qkv::kernels::cpu
