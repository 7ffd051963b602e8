// What Box-Muller in f32 asks the exact functions for, in a third of their time: computed in f64 alone, whose error
// decides a digit of f32 but once in a million numbers, and then the exact function is asked.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/exact_math.h"
#include "core/exact_parts.h"
#include "core/exact_tables.h"

namespace qkv::core {

/// Whether all numbers within 2^-46 of x, relative to it, are one in f32. What is computed below is within 2^-49.
inline bool decides_float(double x) {
  return static_cast<float>(x * (1 - 0x1p-46)) == static_cast<float>(x * (1 + 0x1p-46));
}

/// log(x) as f32, for x from 2^-24 to 1.
inline float float_of_log(float x) {
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCD;
  const double wide = x;
  const auto bits = std::bit_cast<std::uint64_t>(wide);
  // wide = 2^n (1 + f), with 1 + f from the root of 1 / 2 to that of 2.
  const std::int64_t n = static_cast<std::int64_t>(bits - kRootHalf) >> 52;
  const double f = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(n) << 52U)) - 1;
  // log(1 + f) = 2 (s + s^3 / 3 + s^5 / 5 + ...), and 2 s = f - s f, of which f has no error.
  const double s = f / (2 + f);
  const double square = s * s;
  double p = 2.0 / 21;
  p = p * square + 2.0 / 19;
  p = p * square + 2.0 / 17;
  p = p * square + 2.0 / 15;
  p = p * square + 2.0 / 13;
  p = p * square + 2.0 / 11;
  p = p * square + 2.0 / 9;
  p = p * square + 2.0 / 7;
  p = p * square + 2.0 / 5;
  p = p * square + 2.0 / 3;
  const auto halvings = static_cast<double>(n);
  const double rest = s * (square * p - f) + halvings * exact::kLogTwo[1];
  const double result = (halvings * exact::kLogTwo[0] + f) + rest;
  return decides_float(result) ? static_cast<float>(result) : static_cast<float>(log(wide));
}

template <std::size_t kCount>
struct SinesAndCosines {
  std::array<float, kCount> sin;
  std::array<float, kCount> cos;
};

/// sin and cos as f32, of angles from 0 to 2 pi.
template <std::size_t kCount>
SinesAndCosines<kCount> floats_of_sine_and_cosine(const std::array<float, kCount>& angles) {
  std::array<double, kCount> quarters;
  std::array<double, kCount> sines;
  std::array<double, kCount> cosines;
  // angle = quarter * pi / 2 + x, where x is off by 2^-52 of it: the product with the first part of pi / 2 has no
  // error.
  for (std::size_t n = 0; n < kCount; ++n) {
    const double angle = angles[n];
    quarters[n] = exact::nearest_whole(angle * exact::kTwoOverPiRounded);
    const double x = (angle - quarters[n] * exact::kHalfPi[0]) - quarters[n] * exact::kHalfPi[1];
    const double square = x * x;
    double s = -1.0 / 1307674368000;
    s = s * square + 1.0 / 6227020800;
    s = s * square - 1.0 / 39916800;
    s = s * square + 1.0 / 362880;
    s = s * square - 1.0 / 5040;
    s = s * square + 1.0 / 120;
    s = s * square - 1.0 / 6;
    double c = 1.0 / 20922789888000;
    c = c * square - 1.0 / 87178291200;
    c = c * square + 1.0 / 479001600;
    c = c * square - 1.0 / 3628800;
    c = c * square + 1.0 / 40320;
    c = c * square - 1.0 / 720;
    c = c * square + 1.0 / 24;
    c = c * square - 0.5;
    sines[n] = x + x * (square * s);
    cosines[n] = 1 + square * c;
  }
  SinesAndCosines<kCount> result;
  for (std::size_t n = 0; n < kCount; ++n) {
    const auto quarter = static_cast<unsigned>(static_cast<int>(quarters[n]));
    const bool is_odd = (quarter & 1U) != 0;
    const double sin_size = is_odd ? cosines[n] : sines[n];
    const double cos_size = is_odd ? sines[n] : cosines[n];
    const double sine = (quarter & 2U) != 0 ? -sin_size : sin_size;
    const double cosine = ((quarter + 1) & 2U) != 0 ? -cos_size : cos_size;
    const double angle = angles[n];
    result.sin[n] = decides_float(sine) ? static_cast<float>(sine) : static_cast<float>(sin(angle));
    result.cos[n] = decides_float(cosine) ? static_cast<float>(cosine) : static_cast<float>(cos(angle));
  }
  return result;
}

}  // namespace qkv::core
