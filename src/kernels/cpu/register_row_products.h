// As row_products.h, for AVX-512 on AMD and rows of whole vectors: up to eight queries go through a tile together, the
// sums over its keys stay in registers, and the next tile is prefetched between the multiplications.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/processor.h"
#include "kernels/cpu/row_products.h"
#include "kernels/cpu/row_steps.h"

namespace qkv::kernels::cpu {

/// `Dots` multiplies queries and keys: floats, or what lies in their places.
template <class S, class Dots = S>
class RegisterRowProducts : public RowProducts<S, kTile> {
  using Base = RowProducts<S, kTile>;
  using F = typename S::F;

 public:
  using typename Base::Tile;

  /// Sums in registers are faster than vectors of queries for all numbers of lanes that there is room for.
  static constexpr std::int64_t kMostLanes = Base::kHeldLanes;

  static bool takes(const Forward& call) {
    return core::is_amd() && call.D % S::kLanes == 0 && call.Dv % S::kLanes == 0 && !holds(call, DType::i8);
  }

  /// q is [lane / kRowsAtOnce][D / kLanes][lane % kRowsAtOnce] vectors.
  static void pack_queries(const std::byte* const* rows, DType dtype, std::int64_t D, float sign, float* stage,
                           float* q) {
    for (std::int64_t lane = 0; lane < Base::kHeldLanes; ++lane) {
      if (rows[lane] == nullptr) continue;
      load_row<S>(rows[lane], dtype, D, sign, stage);
      place_query(stage, D, lane, q);
    }
  }

  /// As that of Base, but after the last tile it names only the rows that scores() reads.
  static void look_ahead(Tile& tile, const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys) {
    if (keys > 0) return Base::look_ahead(tile, k, v, j, keys);
    Base::repeat_last_row(*tile.rows, tile.keys, round_up(tile.keys, S::kLanes));
  }

  /// As that of Base.
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                     float* s) {
    Base::with_type(tile.k_type, [&]<DType kType>() { score<kType>(tile, q, D, lanes, width, s); });
  }

  /// As that of Base.
  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t width, float* sums) {
    Base::with_type(tile.v_type, [&]<DType kType>() {
      with_ahead(tile.more, [&]<class A>() __attribute__((always_inline)) {
        with_rows(lanes, [&]<int Rows>(std::int64_t lane) __attribute__((always_inline)) {
          sum_rows<kType, Rows, A>(tile, w + Base::offset_of(lane, width), width, Dv, tile.buffer + lane * Dv);
        });
      });
    });
    return Base::add_if_finite(tile, lanes * Dv, sums);
  }

 protected:
  // Where there are at most four multiply-adds for a line.
  template <DType kType, int Rows, class A>
  static constexpr bool kAsksTwice = std::is_same_v<A, Ahead> && Rows * kLine / bytes_of(kType) <= 4 * S::kLanes;

  static void place_query(const float* row, std::int64_t D, std::int64_t lane, float* q) {
    float* to = q + lane / kRowsAtOnce * kRowsAtOnce * D + lane % kRowsAtOnce * S::kLanes;
    for (std::int64_t d = 0; d < D; d += S::kLanes) S::store(to + d * kRowsAtOnce, S::load(row + d));
  }

  template <DType kType>
  static void score(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                    float* s) {
    Base::clear_other_lanes(lanes, width, s);
    with_ahead(tile.more, [&]<class A>() __attribute__((always_inline)) {
      with_rows(lanes, [&]<int Rows>(std::int64_t lane) __attribute__((always_inline)) {
        score_rows<kType, Rows, A>(tile, q + lane * D, D, width, s + Base::offset_of(lane, width));
      });
    });
  }

 private:
  template <DType kType, int Rows, class A>
  static void score_rows(const Tile& tile, const float* q, std::int64_t D, std::int64_t width, float* s) {
    constexpr int kKeys = S::kLanes / static_cast<int>(std::bit_ceil(static_cast<unsigned>(Rows)));
    for (std::int64_t c = 0; c < tile.keys; c += kKeys) score_keys<kType, Rows, kKeys, A>(tile, c, q, D, width, s);
  }

  // Reads rows beyond the tile's keys, too: look_ahead() has said where they lie.
  template <DType kType, int Rows, int Keys, class A>
  [[gnu::always_inline]] static void score_keys(const Tile& tile, std::int64_t c, const float* q, std::int64_t D,
                                                std::int64_t width, float* s) {
    constexpr std::int64_t kSums = S::kLanes / Keys;  // of a key
    constexpr std::int64_t kLines = Keys * bytes_of(kType) / 4;
    const std::byte* k[Keys];
#pragma GCC unroll 16
    for (std::int64_t n = 0; n < Keys; ++n) k[n] = tile.rows->k[c + n];
    A far(tile.rows->k + c + kTile, D * bytes_of(kType));
    A near(tile.rows->k + c + kAgain, D * bytes_of(kType));
    F acc[S::kLanes];
#pragma GCC unroll 16
    for (F& sum : acc) sum = S::zero();
    for (std::int64_t d = 0; d < D; d += S::kLanes) {
      F query[Rows];
#pragma GCC unroll 8
      for (std::int64_t r = 0; r < Rows; ++r) query[r] = kept(S::load(q + d * kRowsAtOnce + r * S::kLanes));
#pragma GCC unroll 16
      for (std::int64_t n = 0; n < Keys; ++n) {
        const F key = load_as_f32<S>(k[n], kType, d);
        if (n < kLines) {
          if (kAsksTwice<kType, Rows, A>) near.next();
          far.next();
        }
#pragma GCC unroll 8
        for (std::int64_t r = 0; r < Rows; ++r) acc[n * kSums + r] = Dots::fma(query[r], key, acc[n * kSums + r]);
      }
    }
    Base::template store_scores<Rows, Keys>(S::sums(acc), width, s + c * width);
  }

  template <DType kType, int Rows, class A>
  static void sum_rows(const Tile& tile, const float* w, std::int64_t width, std::int64_t Dv, float* sums) {
    // As many as have room for their sums in the registers.
    constexpr std::int64_t kVectors = Rows == 1 ? 8 : 16 / static_cast<int>(std::bit_ceil(static_cast<unsigned>(Rows)));
    A far(tile.rows->v + kTile, Dv * bytes_of(kType));
    std::int64_t d = 0;
    for (; d + kVectors * S::kLanes <= Dv; d += kVectors * S::kLanes) {
      sum_values<kType, Rows, kVectors>(tile, w, width, d, Dv, sums, far);
    }
    for (; d < Dv; d += S::kLanes) sum_values<kType, Rows, 1>(tile, w, width, d, Dv, sums, far);
  }

  template <DType kType, int Rows, std::int64_t Vectors, class A>
  [[gnu::always_inline]] static void sum_values(const Tile& tile, const float* w, std::int64_t width, std::int64_t d,
                                                std::int64_t Dv, float* sums, A& far) {
    constexpr std::int64_t kLines = Vectors * bytes_of(kType) / 4;
    F acc[Rows][Vectors];
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (std::int64_t n = 0; n < Vectors; ++n) acc[r][n] = S::zero();
    }
    for (std::int64_t c = 0; c < tile.keys; ++c) {
      if (kAsksTwice<kType, Rows, A> && d == 0) {
        fetch<Fetch::second_level>(tile.rows->v[c + kAgain], Dv * bytes_of(kType));
      }
      const std::byte* row = tile.rows->v[c];
      F values[Vectors];
#pragma GCC unroll 8
      for (std::int64_t n = 0; n < Vectors; ++n) {
        values[n] = load_as_f32<S>(row, kType, d + n * S::kLanes);
        if (n < kLines) far.next();
      }
#pragma GCC unroll 8
      for (std::int64_t r = 0; r < Rows; ++r) {
        const F weight = S::splat(w[c * width + r]);
#pragma GCC unroll 8
        for (std::int64_t n = 0; n < Vectors; ++n) acc[r][n] = S::fma(weight, values[n], acc[r][n]);
      }
    }
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (std::int64_t n = 0; n < Vectors; ++n) S::store(sums + r * Dv + d + n * S::kLanes, acc[r][n]);
    }
  }
};

}  // namespace qkv::kernels::cpu
