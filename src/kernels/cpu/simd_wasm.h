// WebAssembly's 128-bit vectors: 4 floats. Included by this target's own files only.
#pragma once

#include <wasm_simd128.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "qkv/dtype.h"

namespace qkv::kernels::cpu::wasm {

struct Simd {
  using F = v128_t;
  using M = v128_t;  // all bits of a lane, or none
  static constexpr int kLanes = 4;
  static constexpr int kVectors = 4;
  static constexpr int kRows = 2;  // engines give a function 16 registers
  static constexpr std::uint64_t kAllLanes = 0xF;
  static constexpr bool kScalesByPowers = false;

  static F zero() { return wasm_f32x4_const_splat(0); }
  static F splat(float x) { return wasm_f32x4_splat(x); }
  static F load(const float* p) { return wasm_v128_load(p); }
  static void store(float* p, F x) { wasm_v128_store(p, x); }
  static F add(F a, F b) { return wasm_f32x4_add(a, b); }
  static F sub(F a, F b) { return wasm_f32x4_sub(a, b); }
  static F mul(F a, F b) { return wasm_f32x4_mul(a, b); }
  static F div(F a, F b) { return wasm_f32x4_div(a, b); }
  // Rounds twice: a fused one is not in the standard's deterministic part.
  static F fma(F a, F b, F c) { return wasm_f32x4_add(wasm_f32x4_mul(a, b), c); }
  // b where either is NaN.
  static F max(F a, F b) { return wasm_f32x4_pmax(b, a); }
  static F min(F a, F b) { return wasm_f32x4_pmin(b, a); }
  static F abs(F a) { return wasm_f32x4_abs(a); }
  static F with_sign_of(F a, F sign) { return wasm_v128_bitselect(sign, a, wasm_i32x4_const_splat(INT32_MIN)); }

  static M less(F a, F b) { return wasm_f32x4_lt(a, b); }
  static M equal(F a, F b) { return wasm_f32x4_eq(a, b); }
  static bool any(M m) { return wasm_v128_any_true(m); }
  static F select(M m, F a, F b) { return wasm_v128_bitselect(a, b, m); }
  /// Lane n is bit n of `bits`.
  static M from_bits(std::uint64_t bits) {
    const v128_t lane_bit = wasm_i32x4_const(1, 2, 4, 8);
    return wasm_i32x4_eq(wasm_v128_and(wasm_i32x4_splat(static_cast<std::int32_t>(bits)), lane_bit), lane_bit);
  }
  static std::uint64_t to_bits(M m) { return wasm_i32x4_bitmask(m); }

  /// The float whose exponent field is the low eight bits of x's mantissa.
  static F exponent_from_mantissa(F x) { return wasm_i32x4_shl(x, 23); }

  static F load_bf16(const std::uint16_t* p) { return wasm_i32x4_shl(wasm_u32x4_load16x4(p), 16); }
  // As autograd's from_half(): without branches, the same bits as Half's own. Seldom asked for, and not inlined a
  // hundred times.
  [[gnu::noinline]] static F load_f16(const std::uint16_t* p) {
    const v128_t half = wasm_u32x4_load16x4(p);
    const v128_t moved = wasm_i32x4_shl(wasm_v128_and(half, wasm_i32x4_const_splat(0x7FFF)), 13);
    const v128_t normal = wasm_i32x4_add(moved, wasm_i32x4_const_splat(0x38000000));
    const v128_t subnormal =
        wasm_f32x4_sub(wasm_i32x4_add(moved, wasm_i32x4_const_splat(0x38800000)), wasm_f32x4_const_splat(0x1p-14F));
    const v128_t special = wasm_v128_or(moved, wasm_i32x4_const_splat(0x7F800000));
    const v128_t finite = select(wasm_i32x4_lt(moved, wasm_i32x4_const_splat(0x00800000)), subnormal, normal);
    const v128_t magnitude = select(wasm_i32x4_ge(moved, wasm_i32x4_const_splat(0x0F800000)), special, finite);
    return wasm_v128_or(magnitude, wasm_i32x4_shl(wasm_v128_and(half, wasm_i32x4_const_splat(0x8000)), 16));
  }
  [[gnu::noinline]] static F load_i8(const std::int8_t* p) {
    return wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(p))));
  }
  static void store_bf16(std::uint16_t* p, F x) {
    float lanes[kLanes];
    store(lanes, x);
    for (int n = 0; n < kLanes; ++n) p[n] = BFloat16(lanes[n]).bits;
  }
  static void store_f16(std::uint16_t* p, F x) {
    float lanes[kLanes];
    store(lanes, x);
    for (int n = 0; n < kLanes; ++n) p[n] = Half(lanes[n]).bits;
  }

  /// Lane n is the sum of rows[n].
  static F sums(const F (&rows)[kLanes]) {
    F turned[kLanes] = {rows[0], rows[1], rows[2], rows[3]};
    transpose(turned);
    return add(add(turned[0], turned[1]), add(turned[2], turned[3]));
  }

  static void transpose(F (&rows)[kLanes]) {
    const F low01 = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5);
    const F high01 = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
    const F low23 = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5);
    const F high23 = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = wasm_i64x2_shuffle(low01, low23, 0, 2);
    rows[1] = wasm_i64x2_shuffle(low01, low23, 1, 3);
    rows[2] = wasm_i64x2_shuffle(high01, high23, 0, 2);
    rows[3] = wasm_i64x2_shuffle(high01, high23, 1, 3);
  }

  // 32-bit integers, for the random numbers of dropout.
  using U = v128_t;
  static U splat_u32(std::uint32_t x) { return wasm_u32x4_splat(x); }
  static U load_u32(const std::uint32_t* p) { return wasm_v128_load(p); }
  static U exclusive_or(U a, U b) { return wasm_v128_xor(a, b); }
  static U multiply_low(U a, U b) { return wasm_i32x4_mul(a, b); }
  static U multiply_high(U a, U b) {
    const v128_t low = wasm_u64x2_extmul_low_u32x4(a, b);
    const v128_t high = wasm_u64x2_extmul_high_u32x4(a, b);
    return wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
  }
  static M at_least(U a, U b) { return wasm_u32x4_ge(a, b); }
};

}  // namespace qkv::kernels::cpu::wasm
