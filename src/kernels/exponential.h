// exp and tanh in f32, written so that a compiler vectorises a loop over them; in f64 the exact ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/exact_math.h"

namespace qkv::kernels {

/// Relative error below 1.2e-7; 0 below -86.9, +inf where it exceeds the largest float, NaN stays. Cody-Waite reduction
/// by log 2 and the polynomial of Cephes' expf (Moshier 1989).
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float kLowest = -87.4F;         // here and below n is -126, and the power's bits are those of 0
  constexpr float kHighest = 89.0F;         // n is 128: infinite
  constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23: adding it leaves the rounded number in the low bits
  const float raised = x < kLowest ? kLowest : x;
  const float bounded = raised > kHighest ? kHighest : raised;
  const float shifted = bounded * std::numbers::log2e_v<float> + kRounding;
  const float n = shifted - kRounding;
  const float r =
      (bounded - n * 0.693359375F) + n * 2.12194440e-4F;  // NOLINT(modernize-use-std-numbers): log 2 in two parts
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float near_one = p * (r * r) + r + 1.0F;
  // 2^(n - 1) and another 2: 2^128 has no float.
  const auto exponent = (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRounding) + 126U) << 23U;
  return near_one * std::bit_cast<float>(exponent) * 2.0F;
}

[[gnu::always_inline]] inline double exponential(double x) { return core::exp(x); }

/// Relative error below 4e-7; NaN stays. Near 0 the polynomial of Cephes' tanhf, elsewhere 1 - 2 / (exp(2 |x|) + 1).
[[gnu::always_inline]] inline float hyperbolic_tangent(float x) {
  const float size = std::fabs(x);
  const float square = x * x;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float near_zero = p * square * x + x;
  const float far = 1.0F - 2.0F / (exponential(2.0F * size) + 1.0F);
  return size < 0.625F ? near_zero : std::copysign(far, x);
}

[[gnu::always_inline]] inline double hyperbolic_tangent(double x) { return core::tanh(x); }

}  // namespace qkv::kernels
