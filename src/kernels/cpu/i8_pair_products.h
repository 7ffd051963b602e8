// As pair_products.h, for keys and values in i8, which bf16 holds exactly. Scales of keys go on the scores, those of
// values on the weights, before these are rounded.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/pair_products.h"

namespace qkv::kernels::cpu {

template <class S, class Dots>
class I8PairProducts : public PairProducts<S, Dots> {
  using Base = PairProducts<S, Dots>;

 public:
  static constexpr std::int64_t kWidth = Base::kWidth;

  struct Tile : Base::Tile {
    const float* k_scales;  // [kTile]; 1 where the packed elements are scaled already
    const float* v_scales;  // the same
  };

  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    return Base::tile_floats(D, Dv) + 2 * kTile + 2 * stage_floats(D > Dv ? D : Dv);
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    float* values = buffer + kTile * pairs_of<S>(D);
    float* k_scales = values + kTile / 2 * round_up(Dv, S::kLanes);
    float* v_scales = k_scales + kTile;
    float* stage = v_scales + kTile;
    find_scales(k, j, keys, k_scales);
    find_scales(v, j, keys, v_scales);
    for (std::int64_t n = keys; n < kTile; ++n) v_scales[n] = 1;  // weights come in pairs of keys
    const std::byte* rows[kTile];
    find_rows(k, j, keys, rows);
    pack_keys(rows, keys, D, k_scales, stage, buffer);
    find_rows(v, j, keys, rows);
    const bool finite = pack_values(rows, keys, Dv, v_scales, stage, values);
    Tile tile;
    static_cast<typename Base::Tile&>(tile) = {
        .k = {.data = buffer, .row_stride = pairs_of<S>(D)}, .v = values, .keys = keys, .finite = finite};
    tile.k_scales = k_scales;
    tile.v_scales = v_scales;
    return tile;
  }

  /// s[strip][key][lane] = k . q of the keys in reach
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes,
                     const Reach<S, kWidth>& reach, float* s) {
    Base::scores(tile, q, D, lanes, reach, s);
    for (std::int64_t lane = 0; lane < lanes; lane += kWidth) {
      const auto [begin, end] = reach[lane];
      for (std::int64_t c = begin; c < end; ++c) {
        const typename S::F scale = S::splat(tile.k_scales[c]);
        float* row = s + lane * kTile + c * kWidth;
        for (std::int64_t n = 0; n < kWidth; n += S::kLanes) S::store(row + n, S::mul(S::load(row + n), scale));
      }
    }
  }

  /// As those of Base, of weights times the scales of their values.
  struct Weights {
    static constexpr float kLargestTotal = Base::Weights::kLargestTotal;
    typename Base::Weights to;
    const float* scales;

    [[gnu::always_inline]] void operator()(std::int64_t lane, std::int64_t c, typename S::F even,
                                           typename S::F odd) const {
      to(lane, c, S::mul(even, S::splat(scales[c])), S::mul(odd, S::splat(scales[c + 1])));
    }
  };

  static Weights weights(const Tile& tile, float* s) { return {.to = {s}, .scales = tile.v_scales}; }

 private:
  static std::int64_t stage_floats(std::int64_t width) { return 2 * pairs_of<S>(width); }

  // Elements are multiplied with their scale here only if it is infinite or NaN.
  static void pack_keys(const std::byte* const* rows, std::int64_t keys, std::int64_t D, float* scales, float* stage,
                        float* to) {
    const std::int64_t pairs = pairs_of<S>(D);
    for (std::int64_t d = 0; d < 2 * pairs; d += S::kLanes) S::store(stage + d, S::zero());
    for (std::int64_t n = 0; n < keys; ++n, to += pairs) {
      const bool finite = std::isfinite(scales[n]);
      load_row<S>(rows[n], DType::i8, D, finite ? 1 : scales[n], stage);
      if (!finite) {
        scales[n] = 1;
        if (D % 2 == 1) stage[D] = 0;  // 0 times the scale is NaN
      }
      for (std::int64_t d = 0; d < pairs; d += S::kLanes) {
        S::store(to + d, S::neighbours(S::load(stage + 2 * d), S::load(stage + 2 * d + S::kLanes)));
      }
    }
  }

  // to[key / 2][round_up(Dv, kLanes)]. Zeros for rows whose scale is not finite; true if there is none.
  static bool pack_values(const std::byte* const* rows, std::int64_t keys, std::int64_t Dv, float* scales, float* stage,
                          float* to) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    bool all_finite = true;
    for (std::int64_t n = 0; n < keys; ++n) {
      float* row = stage + n % 2 * stage_floats(Dv);
      if (std::isfinite(scales[n])) {
        load_row<S>(rows[n], DType::i8, Dv, 1, row);
      } else {
        for (std::int64_t d = 0; d < padded; d += S::kLanes) S::store(row + d, S::zero());
        scales[n] = 1;
        all_finite = false;
      }
      const bool last = n + 1 == keys;
      if (n % 2 == 0 && !last) continue;
      for (std::int64_t d = 0; d < padded; d += S::kLanes) {
        S::store(to + d, S::pairs(S::load(stage + d), n % 2 == 0 ? S::zero() : S::load(row + d)));
      }
      to += padded;
    }
    return all_finite;
  }
};

}  // namespace qkv::kernels::cpu
