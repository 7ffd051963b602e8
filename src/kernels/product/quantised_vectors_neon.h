// The operations of quantised products in NEON. Included by targets' own files only.
#pragma once

#include <arm_neon.h>

#include "core/block_type.h"
#include "kernels/product/quantised_vectors.h"

namespace qkv::kernels::quantised {

/// `Own` is a type of the source's namespace, whose functions these are; its fours() adds to four sums the products
/// of four numbers each, with a sign.
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

  using WideBytes = Bytes;
  using WideInts = Ints;
  using WideFloats = Floats;
  static constexpr std::int64_t kLanes = 8;
  static constexpr int kRows = 4;
  static constexpr bool kTakesSigned = true;
  [[gnu::always_inline]] static void add_signed_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
    const auto* left = reinterpret_cast<const std::int8_t*>(&numbers);
    const auto* right = reinterpret_cast<const std::int8_t*>(&x);
    const auto* onto = reinterpret_cast<const std::int32_t*>(&sums);
    const int32x4_t both[2] = {Own::fours(vld1q_s32(onto), vld1q_s8(left), vld1q_s8(right)),
                               Own::fours(vld1q_s32(onto + 4), vld1q_s8(left + 16), vld1q_s8(right + 16))};
    sums = load<Ints>(both);
  }
  [[gnu::always_inline]] static void add_products(Ints& sums, const Bytes& numbers, const Bytes& x) {
    add_signed_products(sums, numbers, x);
  }
};

}  // namespace qkv::kernels::quantised
