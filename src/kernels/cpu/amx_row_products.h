// The products of a few queries with one tile of keys and values in i8, done by the AMX tile unit where its registers
// can read 64 keys where they lie; other tiles go to the vector unit.
//
// Scores are K q^T, keys the rows of the left operand; sums are w V, weights its rows. Values are its right operand in
// fours of keys, which takes shuffles of neighbouring rows and no transposition. A register has more rows than a group
// has heads, so that a query or a weight goes in as three digits of 8 bits, a row each: 24 bits, as many as f32 holds
// of the largest of them. Sums of products of whole numbers are exact.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/amx_products.h"
#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/digits.h"
#include "kernels/cpu/row_products.h"

namespace qkv::kernels::cpu::amx {

/// Queries and weights become whole numbers of 24 bits, the largest of a query or of a tile's weights near 2^23: three
/// digits of 8 bits, a row each.
class I8RowProducts : public RowProducts<Simd> {
  using Base = RowProducts<Simd>;
  static constexpr std::int64_t kLanesAtOnce = 4;  // of a register
  static constexpr std::int64_t kDigits = 3;
  static constexpr std::int64_t kBytes = 64;            // of a row of a register
  static constexpr float kLargest = 127.0F * 65536.0F;  // of a number of three digits
  static constexpr std::int64_t kMostGroups = kHeldLanes / kLanesAtOnce;

  static constexpr std::int64_t kRegister = 1024;  // bytes
  static constexpr std::int64_t kRegisterFloats = kRegister / 4;

 public:
  struct Tile : Base::Tile {
    bool in_registers;      // all 64 keys, in runs of 16 rows or more
    std::int64_t k_stride;  // bytes
    std::byte* registers;   // of weights, then of values, then of sums
  };

  static constexpr std::int64_t kMostLanes = kHeldLanes;
  static constexpr bool kDense = false;

  using Base::accumulate;

  static bool takes(const Forward& call) { return call.D % kBytes == 0 && call.Dv % kBytes == 0; }

  static std::int64_t query_floats(std::int64_t D) {
    return Base::query_floats(D) + kSide + kMostGroups * (round_up(D, kBytes) / kBytes) * kRegisterFloats;
  }
  static std::int64_t tile_floats(std::int64_t D, std::int64_t Dv) {
    const std::int64_t columns = round_up(Dv, kBytes) / kSide;
    return Base::tile_floats(D, Dv) + (1 + kTile / kSide + 2 * columns) * kRegisterFloats;
  }

  /// After the rows that Base wants: what a lane's whole numbers are multiples of, then [groups of 4 lanes][D / 64]
  /// registers of 16 x 4 elements of D x (digit, lane).
  static void pack_queries(const std::byte* const* rows, DType dtype, std::int64_t D, float sign, float* stage,
                           float* q) {
    Base::pack_queries(rows, dtype, D, sign, stage, q);
    float* units = q + Base::query_floats(D);
    auto* registers = reinterpret_cast<std::byte*>(units + kSide);
    std::memset(registers, 0, static_cast<std::size_t>(kMostGroups * D / kBytes * kRegister));
    for (std::int64_t lane = 0; lane < kHeldLanes; ++lane) {
      units[lane] = 0;
      if (rows[lane] == nullptr) continue;
      const float* row = q + lane * D;
      units[lane] = unit_of_alike<Simd>(row, D, kLargest);
      std::byte* to = registers + lane / kLanesAtOnce * (D / kBytes) * kRegister + lane % kLanesAtOnce * 4;
      for (std::int64_t d = 0; d < D; d += kSide) {
        const Digits<Simd> digits(_mm512_loadu_ps(row + d), units[lane]);
        std::byte* first = to + d / kBytes * kRegister + d % kBytes / 4 * kBytes;
        for (std::int64_t n = 0; n < kDigits; ++n) {
          alignas(16) std::byte bytes[kSide];
          digits.store(n, bytes);
          for (std::int64_t four = 0; four < 4; ++four) {
            std::memcpy(first + four * kBytes + n * kLanesAtOnce * 4, bytes + four * 4, 4);
          }
        }
      }
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t D, std::int64_t Dv,
                   float* buffer) {
    Tile tile;
    static_cast<Base::Tile&>(tile) = Base::load(k, v, j, keys, D, Dv, buffer);
    tile.k_stride = k.row_stride_bytes;
    tile.registers = reinterpret_cast<std::byte*>(buffer + Base::tile_floats(D, Dv));
    tile.in_registers = keys == kTile;
    for (std::int64_t c = 0; c < kTile; c += kSide) tile.in_registers = tile.in_registers && k.run(j + c) >= kSide;
    return tile;
  }

  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t /*width*/,
                     float* s) {
    const float* units = q + Base::query_floats(D);
    const bool fits =
        tile.in_registers && all_finite<Simd>(units, 1, kSide, 0) && all_finite<Simd>(tile.rows->k_scales, 1, kTile, 0);
    if (!fits) return Base::scores(tile, q, D, lanes, kWidth, s);
    const auto* registers = reinterpret_cast<const std::byte*>(units + kSide);
    auto* products = reinterpret_cast<std::int32_t*>(tile.registers);
    for (std::int64_t lane = 0; lane < lanes; lane += kLanesAtOnce) {
      multiply_keys(tile, registers + lane / kLanesAtOnce * (D / kBytes) * kRegister, D, products);
      join_scores(tile, products, _mm_loadu_ps(units + lane), lane, s);
    }
  }

  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t /*width*/, float* sums) {
    if (!tile.in_registers || !are_alike<Simd>(tile.rows->v_scales, kTile)) {
      return Base::accumulate(tile, w, Dv, lanes, kWidth, sums);
    }
    std::byte* values = tile.registers + kRegister;
    std::byte* products = values + Dv / kSide * kRegister;
    interleave_values(tile, Dv, values);
    for (std::int64_t lane = 0; lane < lanes; lane += kLanesAtOnce) {
      float units[kLanesAtOnce];
      if (!split_weights(tile, w + lane, tile.registers, units)) {
        return Base::accumulate(tile, w, Dv, lanes, kWidth, sums);
      }
      Registers::load_tile<6>(tile.registers, kBytes);
      for (std::int64_t d = 0; d < Dv; d += 2 * kSide) {
        Registers::zero_tile<0>();
        Registers::zero_tile<1>();
        Registers::load_tile<2>(values + d / kSide * kRegister, kBytes);
        Registers::multiply_i8<0, 6, 2>();
        Registers::load_tile<3>(values + (d / kSide + 1) * kRegister, kBytes);
        Registers::multiply_i8<1, 6, 3>();
        Registers::store_tile<0>(products + d / kSide * kRegister, kBytes);
        Registers::store_tile<1>(products + (d / kSide + 1) * kRegister, kBytes);
      }
      const std::int64_t end = lanes - lane < kLanesAtOnce ? lanes - lane : kLanesAtOnce;
      for (std::int64_t n = 0; n < end; ++n) {
        join_sums(reinterpret_cast<const std::int32_t*>(products) + n * kSide, units[n], Dv,
                  tile.buffer + (lane + n) * Dv);
      }
    }
    return add_if_finite(tile, lanes * Dv, sums);
  }

 private:
  // A part of the keys that come after the tile's.
  static void fetch_part(const Tile& tile, std::int64_t part, std::int64_t parts, std::int64_t row_bytes) {
    for (std::int64_t c = part * kTile / parts; c < (part + 1) * kTile / parts; ++c) {
      fetch_row(tile.rows->k + c, row_bytes);
    }
  }

  // products[key][digit * 4 + lane]
  static void multiply_keys(const Tile& tile, const std::byte* queries, std::int64_t D, std::int32_t* products) {
    Registers::zero_tile<0>();
    Registers::zero_tile<1>();
    Registers::zero_tile<2>();
    Registers::zero_tile<3>();
    for (std::int64_t d = 0; d < D; d += kBytes) {
      Registers::load_tile<4>(queries + d / kBytes * kRegister, kBytes);
      Registers::load_tile<5>(tile.rows->k[0] + d, tile.k_stride);
      Registers::multiply_i8<0, 5, 4>();
      Registers::load_tile<6>(tile.rows->k[kSide] + d, tile.k_stride);
      Registers::multiply_i8<1, 6, 4>();
      Registers::load_tile<7>(tile.rows->k[2 * kSide] + d, tile.k_stride);
      Registers::multiply_i8<2, 7, 4>();
      Registers::load_tile<5>(tile.rows->k[3 * kSide] + d, tile.k_stride);
      Registers::multiply_i8<3, 5, 4>();
      fetch_part(tile, d / kBytes, D / kBytes, D);
    }
    Registers::store_tile<0>(products, kBytes);
    Registers::store_tile<1>(products + kSide * kSide, kBytes);
    Registers::store_tile<2>(products + 2 * kSide * kSide, kBytes);
    Registers::store_tile<3>(products + 3 * kSide * kSide, kBytes);
  }

  // s[key][lane] of four lanes; lanes from there on are 0.
  static void join_scores(const Tile& tile, const std::int32_t* products, __m128 units, std::int64_t lane, float* s) {
    const __m512 worth =
        _mm512_mul_ps(_mm512_broadcast_f32x4(units),
                      _mm512_setr_ps(1, 1, 1, 1, 256, 256, 256, 256, 65536, 65536, 65536, 65536, 0, 0, 0, 0));
    const auto from_lane = static_cast<__mmask16>(0xFFFFU << lane);
    const auto own = static_cast<__mmask16>(0xFU << lane);
    for (std::int64_t c = 0; c < kTile; ++c) {
      const __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(products + c * kSide)), worth);
      const __m512 two = _mm512_add_ps(x, _mm512_shuffle_f32x4(x, x, 0x4E));
      const __m512 all = _mm512_add_ps(two, _mm512_shuffle_f32x4(two, two, 0xB1));
      _mm512_mask_storeu_ps(s + c * kWidth, from_lane,
                            _mm512_maskz_mul_ps(own, all, _mm512_set1_ps(tile.rows->k_scales[c])));
    }
  }

  // [Dv / 64][4 quarters of every 16 elements] registers of 16 fours of keys x 16 elements.
  static void interleave_values(const Tile& tile, std::int64_t Dv, std::byte* to) {
    for (std::int64_t c = 0; c < kTile; c += 4) {
      for (std::int64_t n = 0; n < 4; ++n) fetch_row(tile.rows->v + c + n, Dv);
      const std::byte* v0_row = tile.rows->v[c];
      const std::byte* v1_row = tile.rows->v[c + 1];
      const std::byte* v2_row = tile.rows->v[c + 2];
      const std::byte* v3_row = tile.rows->v[c + 3];
      std::byte* row = to + c / 4 * kBytes;
      for (std::int64_t d = 0; d < Dv; d += kBytes, row += 4 * kRegister) {
        const __m512i v0 = _mm512_loadu_si512(v0_row + d);
        const __m512i v1 = _mm512_loadu_si512(v1_row + d);
        const __m512i v2 = _mm512_loadu_si512(v2_row + d);
        const __m512i v3 = _mm512_loadu_si512(v3_row + d);
        const __m512i low01 = _mm512_unpacklo_epi8(v0, v1);
        const __m512i low23 = _mm512_unpacklo_epi8(v2, v3);
        const __m512i high01 = _mm512_unpackhi_epi8(v0, v1);
        const __m512i high23 = _mm512_unpackhi_epi8(v2, v3);
        _mm512_storeu_si512(row, _mm512_unpacklo_epi16(low01, low23));
        _mm512_storeu_si512(row + kRegister, _mm512_unpackhi_epi16(low01, low23));
        _mm512_storeu_si512(row + 2 * kRegister, _mm512_unpacklo_epi16(high01, high23));
        _mm512_storeu_si512(row + 3 * kRegister, _mm512_unpackhi_epi16(high01, high23));
      }
    }
  }

  // Rows (digit, lane) of 64 keys' weights times the scales of their values; false where one is not finite.
  static bool split_weights(const Tile& tile, const float* w, std::byte* to, float* units) {
    alignas(64) float rows[kLanesAtOnce][kTile];
    for (std::int64_t c = 0; c < kTile; c += kSide) {
      __m512 turned[kLanesAtOnce];
      turn_four_lanes<Simd>(w + c * kWidth, kWidth, turned);
      const __m512 scales = _mm512_loadu_ps(tile.rows->v_scales + c);
#pragma GCC unroll 4
      for (std::int64_t n = 0; n < kLanesAtOnce; ++n) {
        _mm512_store_ps(rows[n] + c, _mm512_mul_ps(turned[n], scales));
      }
    }
    bool finite = true;
    for (std::int64_t n = 0; n < kLanesAtOnce; ++n) {
      units[n] = unit_of<Simd>(rows[n], kTile, kLargest);
      finite = finite && units[n] - units[n] == 0;  // NOLINT(misc-redundant-expression): neither infinite nor NaN
      for (std::int64_t c = 0; c < kTile; c += kSide) {
        const Digits<Simd> digits(_mm512_load_ps(rows[n] + c), units[n]);
        for (std::int64_t digit = 0; digit < kDigits; ++digit) {
          digits.store(digit, to + (digit * kLanesAtOnce + n) * kBytes + c);
        }
      }
    }
    return finite;
  }

  // The three rows of a lane, with the quarters of every 16 elements back in their places.
  static void join_sums(const std::int32_t* products, float unit, std::int64_t Dv, float* to) {
    for (std::int64_t d = 0; d < Dv; d += kBytes) {
      __m512 x[4];
#pragma GCC unroll 4
      for (std::int64_t n = 0; n < 4; ++n) x[n] = joined(products + (d / kSide + n) * kRegisterFloats, unit);
      __m512 fours[4];
      turn_fours<Simd>(x, fours);
      for (std::int64_t n = 0; n < 4; ++n) _mm512_storeu_ps(to + d + n * kSide, fours[n]);
    }
  }

  [[gnu::always_inline]] static __m512 joined(const std::int32_t* from, float unit) {
    constexpr std::int64_t kDigit = kLanesAtOnce * kSide;
    const __m512 low = _mm512_cvtepi32_ps(_mm512_loadu_si512(from));
    const __m512 middle = _mm512_cvtepi32_ps(_mm512_loadu_si512(from + kDigit));
    const __m512 high = _mm512_cvtepi32_ps(_mm512_loadu_si512(from + 2 * kDigit));
    const __m512 rest = _mm512_fmadd_ps(middle, _mm512_set1_ps(256), low);
    return _mm512_mul_ps(_mm512_fmadd_ps(high, _mm512_set1_ps(65536), rest), _mm512_set1_ps(unit));
  }
};

}  // namespace qkv::kernels::cpu::amx
