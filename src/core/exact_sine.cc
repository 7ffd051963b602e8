// Reduction by pi / 2: Cody and Waite (1980) up to 2^20, beyond it Payne and Hanek (1983) in whole numbers. Sine and
// cosine of what is left by the addition theorem from a table at steps of 1 / 32 (Gal and Bachelis 1991, ACM TOMS
// 17(1)).
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/exact_math.h"
#include "core/exact_parts.h"
#include "core/exact_tables.h"

namespace qkv::core {
namespace exact {
namespace {

// x = quarter * pi / 2 + rest, |rest| up to pi / 4; of the quarters, the last two bits count.
struct Reduced {
  unsigned quarter;
  Double2 rest;
};

Reduced reduce_small(double x) {
  const double n = nearest_whole(x * kTwoOverPiRounded);
  const Double2 first = sum_of(x - n * kHalfPi[0], -(n * kHalfPi[1]));
  const Double2 second = sum_of(first.high, -(n * kHalfPi[2]));
  const Double2 rest = sum_of(second.high, (first.low + second.low) - n * kHalfPi[3]);
  return {static_cast<unsigned>(static_cast<int>(n)), rest};
}

// A whole number of 32-bit words, the lowest first.
constexpr int kWindow = 8;
constexpr int kWords = kWindow + 2;
using Words = std::array<std::uint32_t, kWords + 1>;

// mantissa * the window of 2 / pi whose highest word is the `first`-th.
Words product_with_window(std::uint64_t mantissa, int first) {
  Words product{};
  for (int part = 0; part < 2; ++part) {
    const std::uint64_t factor = part == 0 ? mantissa & 0xFFFFFFFFU : mantissa >> 32U;
    std::uint64_t carry = 0;
    for (int n = 0; n < kWindow; ++n) {
      auto& word = product[static_cast<std::size_t>(n) + static_cast<std::size_t>(part)];
      carry += factor * kTwoOverPi[first + kWindow - 1 - n] + word;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    product[static_cast<std::size_t>(kWindow) + static_cast<std::size_t>(part)] += static_cast<std::uint32_t>(carry);
  }
  return product;
}

// The 32 bits from `bit` on; zeros where it is below 0 or beyond the words.
std::uint32_t bits_from(const Words& words, int bit) {
  if (bit <= -32) return 0;
  const auto word = [&](int n) -> std::uint64_t {
    return n < 0 || n > kWords ? 0 : words[static_cast<std::size_t>(n)];
  };
  const int place = (bit + 32) / 32 - 1;  // rounded down
  const auto offset = static_cast<unsigned>(bit - place * 32);
  return static_cast<std::uint32_t>((word(place) | word(place + 1) << 32U) >> offset);
}

// For x >= 2. Skips the words of 2 / pi that give multiples of 4 quarters, and those below the window, which contribute
// less than 2^-160.
Reduced reduce_large(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52U) - 1)) | (std::uint64_t{1} << 52U);
  const int exponent = static_cast<int>(bits >> 52U) - 1023 - 52;
  const int first = exponent < 2 ? 0 : (exponent - 2) / 32;
  Words product = product_with_window(mantissa, first);
  const int point = 32 * (first + kWindow) - exponent;  // bits behind the point
  unsigned quarter = bits_from(product, point) & 3U;
  const bool is_above_half = (bits_from(product, point - 1) & 1U) != 0;
  if (is_above_half) {
    ++quarter;
    for (std::uint32_t& word : product) word = ~word;  // 1 - fraction, but for one unit in the last place
  }
  int top = point - 32;
  while (top > 0 && bits_from(product, top) == 0) top -= 32;
  double words[4];
  for (int n = 0; n < 4; ++n) {
    words[n] = static_cast<double>(bits_from(product, top - 32 * n)) * power_of_two(top - 32 * n - point);
  }
  const Double2 pair = ordered_sum(words[0], words[1]);
  const Double2 fraction = ordered_sum(pair.high, pair.low + (words[2] + words[3]));
  const Double2 rest = product_of(fraction, {kHalfPiSum[0], kHalfPiSum[1]});
  return {quarter, is_above_half ? Double2{-rest.high, -rest.low} : rest};
}

Reduced reduced(double size) {
  if (size < 0x1.921fb54442d18p-1) return {0, {size, 0}};
  return size < 0x1p20 ? reduce_small(size) : reduce_large(size);
}

// An angle from 0 to pi / 4 as a step of the table and a rest.
struct Turned {
  const SineCosine* step;
  Double2 rest;
  double sin_rest;    // sin(rest) - rest.high
  double cos_less_1;  // cos(rest) - 1
};

Turned turned(Double2 angle) {
  const double place = nearest_whole(angle.high * 32);
  const Double2 rest = {angle.high - place * 0x1p-5, angle.low};
  const double x = rest.high;
  const double square = x * x;
  double s = -1.0 / 5040;
  s = s * square + 1.0 / 120;
  s = s * square - 1.0 / 6;
  double c = 1.0 / 40320;
  c = c * square - 1.0 / 720;
  c = c * square + 1.0 / 24;
  c = c * square - 0.5;
  return {.step = &kSines[static_cast<int>(place)],
          .rest = rest,
          .sin_rest = square * x * s + rest.low,
          .cos_less_1 = square * c - x * rest.low};
}

// high + low + high * turned.cos_less_1 + factor * sin(rest), with the factor in parts as well.
double joined(double high, double low, double factor_high, double factor_low, const Turned& by) {
  const Double2 parts = halves(by.rest.high);
  const Double2 first = sum_of(high, factor_high * parts.high);
  const double rest = factor_high * parts.low + (low + factor_low * by.rest.high) +
                      ((factor_high + factor_low) * by.sin_rest + (high + low) * by.cos_less_1);
  return first.high + (first.low + rest);
}

double sin_of(const Turned& by) {
  return joined(by.step->sin_high, by.step->sin_low, by.step->cos_high, by.step->cos_low, by);
}

double cos_of(const Turned& by) {
  return joined(by.step->cos_high, by.step->cos_low, -by.step->sin_high, -by.step->sin_low, by);
}

// sin(size + quarters * pi / 2) for size >= 0.
double sine(double size, unsigned quarters) {
  const Reduced at = reduced(size);
  const bool is_below = at.rest.high < 0;
  const Turned by = turned(is_below ? Double2{-at.rest.high, -at.rest.low} : at.rest);
  switch ((at.quarter + quarters) % 4U) {
    case 0:
      return is_below ? -sin_of(by) : sin_of(by);
    case 1:
      return cos_of(by);
    case 2:
      return is_below ? sin_of(by) : -sin_of(by);
    default:
      return -cos_of(by);
  }
}

constexpr double kNoAngle = std::numeric_limits<double>::quiet_NaN();

}  // namespace
}  // namespace exact

double sin(double x) noexcept {
  const double size = std::fabs(x);
  if (size < 0x1p-27) return x;
  if (!(size <= std::numeric_limits<double>::max())) return exact::kNoAngle;
  const double result = exact::sine(size, 0);
  return x < 0 ? -result : result;
}

double cos(double x) noexcept {
  const double size = std::fabs(x);
  if (!(size <= std::numeric_limits<double>::max())) return exact::kNoAngle;
  return exact::sine(size, 1);
}

}  // namespace qkv::core
