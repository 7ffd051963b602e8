// NEON vectors of 4 floats, as every 64-bit Arm processor has them. Included by this target's own translation unit
// only.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

namespace qkv::kernels::cpu::neon {

struct Simd {
  using F = float32x4_t;
  using M = uint32x4_t;  // all bits of a lane, or none
  static constexpr int kLanes = 4;
  static constexpr int kVectors = 4;
  static constexpr int kRows = 6;
  static constexpr std::uint64_t kAllLanes = 0xF;
  static constexpr bool kScalesByPowers = false;

  static F zero() { return vdupq_n_f32(0); }
  static F splat(float x) { return vdupq_n_f32(x); }
  static F load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, F x) { vst1q_f32(p, x); }
  static F add(F a, F b) { return vaddq_f32(a, b); }
  static F sub(F a, F b) { return vsubq_f32(a, b); }
  static F mul(F a, F b) { return vmulq_f32(a, b); }
  static F div(F a, F b) { return vdivq_f32(a, b); }
  static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
  // NaN where either is NaN.
  static F max(F a, F b) { return vmaxq_f32(a, b); }
  static F min(F a, F b) { return vminq_f32(a, b); }
  static F abs(F a) { return vabsq_f32(a); }
  static F with_sign_of(F a, F sign) { return vbslq_f32(vdupq_n_u32(0x80000000U), sign, a); }

  static M less(F a, F b) { return vcltq_f32(a, b); }
  static M equal(F a, F b) { return vceqq_f32(a, b); }
  static bool any(M m) { return vmaxvq_u32(m) != 0; }
  static F select(M m, F a, F b) { return vbslq_f32(m, a, b); }
  /// Lane n is bit n of `bits`.
  static M from_bits(std::uint64_t bits) {
    return vtstq_u32(vdupq_n_u32(static_cast<std::uint32_t>(bits)), lane_bit());
  }
  static std::uint64_t to_bits(M m) { return vaddvq_u32(vandq_u32(m, lane_bit())); }

  /// The float whose exponent field is the low eight bits of x's mantissa.
  static F exponent_from_mantissa(F x) { return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(x), 23)); }

  static F load_bf16(const std::uint16_t* p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }
  static F load_f16(const std::uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
  static F load_i8(const std::int8_t* p) {
    std::uint32_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(word)))));
  }
  static void store_bf16(std::uint16_t* p, F x) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF))), 16);
    const uint32x4_t quiet = vorrq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(0x40));
    vst1_u16(p, vmovn_u32(vbslq_u32(vceqq_f32(x, x), rounded, quiet)));
  }
  static void store_f16(std::uint16_t* p, F x) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x))); }

  /// Lane n is the sum of rows[n].
  static F sums(const F (&rows)[kLanes]) {
    return vpaddq_f32(vpaddq_f32(rows[0], rows[1]), vpaddq_f32(rows[2], rows[3]));
  }

  static void transpose(F (&rows)[kLanes]) {
    const float64x2_t even01 = vreinterpretq_f64_f32(vtrn1q_f32(rows[0], rows[1]));
    const float64x2_t odd01 = vreinterpretq_f64_f32(vtrn2q_f32(rows[0], rows[1]));
    const float64x2_t even23 = vreinterpretq_f64_f32(vtrn1q_f32(rows[2], rows[3]));
    const float64x2_t odd23 = vreinterpretq_f64_f32(vtrn2q_f32(rows[2], rows[3]));
    rows[0] = vreinterpretq_f32_f64(vzip1q_f64(even01, even23));
    rows[1] = vreinterpretq_f32_f64(vzip1q_f64(odd01, odd23));
    rows[2] = vreinterpretq_f32_f64(vzip2q_f64(even01, even23));
    rows[3] = vreinterpretq_f32_f64(vzip2q_f64(odd01, odd23));
  }

  // 32-bit integers, for the random numbers of dropout.
  using U = uint32x4_t;
  static U splat_u32(std::uint32_t x) { return vdupq_n_u32(x); }
  static U load_u32(const std::uint32_t* p) { return vld1q_u32(p); }
  static U exclusive_or(U a, U b) { return veorq_u32(a, b); }
  static U multiply_low(U a, U b) { return vmulq_u32(a, b); }
  static U multiply_high(U a, U b) {
    const uint64x2_t low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
    const uint64x2_t high = vmull_high_u32(a, b);
    return vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
  }
  static M at_least(U a, U b) { return vcgeq_u32(a, b); }

 private:
  static uint32x4_t lane_bit() { return uint32x4_t{1, 2, 4, 8}; }
};

}  // namespace qkv::kernels::cpu::neon
