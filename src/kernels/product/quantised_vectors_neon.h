// The operations of quantised products in NEON. Included by targets' own files only.
#pragma once

#include <arm_neon.h>

#include "core/block_type.h"
#include "kernels/product/quantised_laid-inl.h"

namespace qkv::kernels::quantised {

/// `Own` is a type of the source's namespace, whose functions these are; its fours() adds to four sums the products
/// of four numbers each, with a sign, fours_by<lane>() those by four numbers of one lane.
template <class Own>
struct Neon {
  static constexpr bool kUnrolls = true;

  [[gnu::always_inline]] static Floats widened(const std::uint16_t* halves) {
    const float32x4_t both[2] = {vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(halves))),
                                 vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(halves + 4)))};
    return load<Floats>(both);
  }

  [[gnu::always_inline]] static float half(const void* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
  }

  [[gnu::always_inline]] static Floats floats_of(std::uint64_t eight) {
    const uint16x8_t all = vmovl_u8(vcreate_u8(eight));
    const float32x4_t both[2] = {vcvtq_f32_u32(vmovl_u16(vget_low_u16(all))),
                                 vcvtq_f32_u32(vmovl_u16(vget_high_u16(all)))};
    return load<Floats>(both);
  }
  [[gnu::always_inline]] static Floats signed_floats_of(std::uint64_t eight) {
    const int16x8_t all = vmovl_s8(vcreate_s8(eight));
    const float32x4_t both[2] = {vcvtq_f32_s32(vmovl_s16(vget_low_s16(all))),
                                 vcvtq_f32_s32(vmovl_s16(vget_high_s16(all)))};
    return load<Floats>(both);
  }

  [[gnu::always_inline]] static Bytes looked_up(const std::int8_t* list, const Bytes& x) {
    const int8x16_t values = vld1q_s8(list);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&x);
    const int8x16_t both[2] = {vqtbl1q_s8(values, vld1q_u8(bytes)), vqtbl1q_s8(values, vld1q_u8(bytes + 16))};
    return load<Bytes>(both);
  }
  [[gnu::always_inline]] static Bytes uneven(const Bytes& x) { return looked_up(core::kUneven.data(), x); }
  [[gnu::always_inline]] static Bytes twice_floats(const Bytes& x) { return looked_up(core::kTwiceFloats.data(), x); }

  [[gnu::always_inline]] static Ints dot_signed(const Bytes& numbers, const Bytes& x) {
    Ints sums = {};
    add_signed_products(sums, numbers, x);
    return sums;
  }
  // Numbers up to 127 have no sign to lose.
  [[gnu::always_inline]] static Ints dot(const Bytes& numbers, const Bytes& x) { return dot_signed(numbers, x); }

  [[gnu::always_inline]] static void add_dot(Ints& sums, const Bytes& numbers, const Bytes& x) {
    add_signed_products(sums, numbers, x);
  }

  // Rows of x two by two, eight numbers of each: what SMMLA takes, and what one load brings of two rows.
  using X = std::int8_t;
  using WideFloats = Floats;
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kRun = 4;
  static constexpr bool kTakesSigned = true;
  [[gnu::always_inline]] static void lay_rows(const std::int8_t* x, std::int64_t K, X* to) {
    for (std::int64_t k = 0; k < K; k += 16, to += 64) {
      const int64x2_t rows[4] = {load<int64x2_t>(x + k), load<int64x2_t>(x + K + k), load<int64x2_t>(x + 2 * K + k),
                                 load<int64x2_t>(x + 3 * K + k)};
      const int64x2_t laid[4] = {vzip1q_s64(rows[0], rows[1]), vzip1q_s64(rows[2], rows[3]),
                                 vzip2q_s64(rows[0], rows[1]), vzip2q_s64(rows[2], rows[3])};
      std::memcpy(to, laid, sizeof(laid));
    }
  }

  [[gnu::always_inline]] static void add_products(FourInts (&products)[8], const std::uint8_t* numbers, const X* x) {
    add_four<0>(products, numbers, x);
    add_four<1>(products, numbers + 32, x);
  }
  [[gnu::always_inline]] static void stand_as_rows(FourInts (& /*products*/)[8]) {}

 private:
  // Four numbers of each row.
  template <int kFour>
  [[gnu::always_inline]] static void add_four(FourInts (&products)[8], const std::uint8_t* numbers, const X* x) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const auto right = load<int8x16_t>(numbers + 16 * half);
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; ++pair) {
        const int8x16_t rows = vld1q_s8(x + 16 * pair);
        FourInts& first = products[4 * pair + half];
        FourInts& second = products[4 * pair + 2 + half];
        first = (FourInts)Own::template fours_by<kFour>((int32x4_t)first, right, rows);
        second = (FourInts)Own::template fours_by<2 + kFour>((int32x4_t)second, right, rows);
      }
    }
  }

  [[gnu::always_inline]] static void add_signed_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
    const auto* left = reinterpret_cast<const std::int8_t*>(&numbers);
    const auto* right = reinterpret_cast<const std::int8_t*>(&x);
    const auto* onto = reinterpret_cast<const std::int32_t*>(&sums);
    const int32x4_t both[2] = {Own::fours(vld1q_s32(onto), vld1q_s8(left), vld1q_s8(right)),
                               Own::fours(vld1q_s32(onto + 4), vld1q_s8(left + 16), vld1q_s8(right + 16))};
    sums = load<Ints>(both);
  }
};

}  // namespace qkv::kernels::quantised
