// One float at a time, for any processor: the plainest form of what every target's Simd offers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "qkv/dtype.h"

namespace qkv::kernels::cpu::scalar {

struct Simd {
  using F = float;
  using M = bool;
  static constexpr int kLanes = 1;
  static constexpr int kVectors = 4;
  static constexpr int kRows = 2;
  static constexpr std::uint64_t kAllLanes = 1;
  static constexpr bool kScalesByPowers = false;

  static F zero() { return 0; }
  static F splat(float x) { return x; }
  static F load(const float* p) { return *p; }
  static void store(float* p, F x) { *p = x; }
  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F fma(F a, F b, F c) { return a * b + c; }
  // b where either is NaN.
  static F max(F a, F b) { return a > b ? a : b; }
  static F min(F a, F b) { return a < b ? a : b; }
  static F abs(F a) { return std::fabs(a); }
  static F with_sign_of(F a, F sign) { return std::copysign(a, sign); }

  static M less(F a, F b) { return a < b; }
  static M equal(F a, F b) { return a == b; }
  static bool any(M m) { return m; }
  static F select(M m, F a, F b) { return m ? a : b; }
  static M from_bits(std::uint64_t bits) { return (bits & 1U) != 0; }
  static std::uint64_t to_bits(M m) { return m ? 1 : 0; }
  static F exponent_from_mantissa(F x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) << 23U); }

  static F load_bf16(const std::uint16_t* p) { return std::bit_cast<float>(static_cast<std::uint32_t>(*p) << 16U); }
  static F load_f16(const std::uint16_t* p) { return static_cast<float>(Half::from_bits(*p)); }
  static F load_i8(const std::int8_t* p) { return static_cast<float>(*p); }
  static void store_bf16(std::uint16_t* p, F x) { *p = BFloat16(x).bits; }
  static void store_f16(std::uint16_t* p, F x) { *p = Half(x).bits; }

  static void transpose(F (& /*rows*/)[kLanes]) {}

  // 32-bit integers, for the random numbers of dropout.
  using U = std::uint32_t;
  static U splat_u32(std::uint32_t x) { return x; }
  static U load_u32(const std::uint32_t* p) { return *p; }
  static U exclusive_or(U a, U b) { return a ^ b; }
  static U multiply_low(U a, U b) { return a * b; }
  static U multiply_high(U a, U b) { return static_cast<U>(static_cast<std::uint64_t>(a) * b >> 32U); }
  static M at_least(U a, U b) { return a >= b; }
};

}  // namespace qkv::kernels::cpu::scalar
