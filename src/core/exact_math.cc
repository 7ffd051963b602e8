// exp and log by tables and short polynomials after Tang (1989, 1990, ACM TOMS 15(2) and 16(4)), with the table's value
// and the first terms carried in two parts, so that what is rounded to f64 at the end has some 15 bits more.
#include "core/exact_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/exact_parts.h"
#include "core/exact_tables.h"

namespace qkv::core {
namespace exact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// exp(r.high + r.low) - 1 - r.high for |r| up to log 2 / 256.
double exp_rest(Double2 r) {
  const double x = r.high;
  double p = 1.0 / 5040;
  p = p * x + 1.0 / 720;
  p = p * x + 1.0 / 120;
  p = p * x + 1.0 / 24;
  p = p * x + 1.0 / 6;
  p = p * x + 0.5;
  return r.low + (x * x) * p;
}

}  // namespace

// x = n log 2 / 128 + r, and 2^(n / 128) is a power of two times an entry of the table.
Scaled exp_of(Double2 x) noexcept {
  const double n = nearest_whole(x.high * kStepsPerUnit);
  const Double2 r = sum_of(x.high - n * kExpStep[0], x.low - n * kExpStep[1]);
  const auto step = static_cast<int>(n);
  const TwoParts& power = kPowers[step & 127];
  const Double2 parts = halves(r.high);
  const double rest = exp_rest(r);
  const Double2 first = ordered_sum(power.high, power.high * parts.high);
  const double low =
      power.high * parts.low + (power.low + (power.low * r.high + (power.high + power.low) * rest)) + first.low;
  return {.mantissa = ordered_sum(first.high, low), .exponent = step >> 7};
}

namespace {

// log(x.high + x.low) to about 2^-66 of it; x.high is normal, and x.low at most half an ulp of it.
Double2 log_of(Double2 x, int exponent = 0) {
  const auto bits = std::bit_cast<std::uint64_t>(x.high);
  exponent += static_cast<int>(bits >> 52U) - 1023;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  const auto mantissa = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52U));
  const auto place = static_cast<int>(((bits & kFraction) + (std::uint64_t{1} << 44U)) >> 45U);
  const Reciprocal& entry = kReciprocals[place];
  constexpr int kFirstCarried = 54;
  const double n = exponent + (place >= kFirstCarried ? 1 : 0);
  // r = mantissa / (1 + place / 128) - 1, without error but for the low part's.
  const Double2 parts = halves(mantissa);
  const double low = x.low == 0 ? 0 : scaled(x.low, -(static_cast<int>(bits >> 52U) - 1023));
  Double2 r = sum_of(parts.high * entry.inverse - 1, parts.low * entry.inverse);
  r = sum_of(r.high, r.low + low * entry.inverse);
  // -r^2 / 2 in two parts, then the terms from r^3 on.
  const Double2 half = halves(r.high);
  const double square_high = -0.5 * (half.high * half.high);
  const double square_low = -(half.high * half.low) - 0.5 * (half.low * half.low) - r.high * r.low;
  double p = -1.0 / 8;
  p = p * r.high + 1.0 / 7;
  p = p * r.high - 1.0 / 6;
  p = p * r.high + 1.0 / 5;
  p = p * r.high - 1.0 / 4;
  p = p * r.high + 1.0 / 3;
  const double cube = (r.high * r.high) * (r.high * p);
  const Double2 whole = sum_of(n * kLogTwo[0], entry.log_high);
  const Double2 first = sum_of(whole.high, r.high);
  const Double2 second = sum_of(first.high, square_high);
  const double rest = (cube + square_low) + r.low + (n * kLogTwo[1] + entry.log_low);
  return ordered_sum(second.high, whole.low + first.low + second.low + rest);
}

// log of a positive number, subnormal ones too.
Double2 log_of_positive(double x) {
  constexpr double kSmallestNormal = std::numeric_limits<double>::min();
  return x < kSmallestNormal ? log_of({x * 0x1p54, 0}, -54) : log_of({x, 0});
}

// exp(x) - 1 in two parts, for x from 2^-60 to 60.
Double2 expm1_of(double x) {
  const Scaled power = exp_of({x, 0});
  if (x < 0x1p-9) {  // n is 0, so 1 was added to the result
    return ordered_sum(x, exp_rest({x, 0}));
  }
  const Double2 less = sum_of(scaled(power.mantissa.high, power.exponent), -1);
  return ordered_sum(less.high, less.low + scaled(power.mantissa.low, power.exponent));
}

enum class Parity : std::uint8_t { fraction, odd, even };

Parity parity_of(double y) {
  const double size = std::fabs(y);
  if (size >= 0x1p53) return Parity::even;
  if (size < 1) return size == 0 ? Parity::even : Parity::fraction;
  const auto whole = static_cast<std::int64_t>(size);
  if (static_cast<double>(whole) != size) return Parity::fraction;
  return whole % 2 != 0 ? Parity::odd : Parity::even;
}

// x^y for a finite x above 0 and a finite y other than 0.
double power_of_positive(double x, double y) {
  const Double2 log = log_of_positive(x);
  const double estimate = y * log.high;
  if (estimate > 710) return kInfinity;
  if (estimate < -746) return 0;
  if (std::fabs(estimate) < 0x1p-60) return 1;
  const Scaled power = exp_of(product_of(log, {y, 0}));
  return scaled(power.mantissa.high, power.exponent);
}

}  // namespace
}  // namespace exact

double exp(double x) noexcept {
  if (!(std::fabs(x) < 746)) {
    if (x != x) return x;
    return x > 0 ? exact::kInfinity : 0;
  }
  const exact::Scaled power = exact::exp_of({x, 0});
  return exact::scaled(power.mantissa.high, power.exponent);
}

double log(double x) noexcept {
  if (!(x > 0)) return x == 0 ? -exact::kInfinity : exact::kNan;
  if (x == exact::kInfinity) return x;
  return exact::log_of_positive(x).high;
}

double log1p(double x) noexcept {
  if (!(x > -1)) return x == -1 ? -exact::kInfinity : exact::kNan;
  if (x == exact::kInfinity || std::fabs(x) < 0x1p-54) return x;
  return exact::log_of(exact::sum_of(1, x)).high;
}

double pow(double x, double y) noexcept {
  using exact::Parity;
  if (x == 1 || y == 0) return 1;
  if (x != x || y != y) return exact::kNan;
  const double size = std::fabs(x);
  if (std::fabs(y) == exact::kInfinity) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? exact::kInfinity : 0;
  }
  const Parity parity = exact::parity_of(y);
  if (x < 0 && parity == Parity::fraction && size != exact::kInfinity) return exact::kNan;
  double result = 1;
  if (size == 0 || size == exact::kInfinity) {
    result = (size == 0) == (y > 0) ? 0 : exact::kInfinity;
  } else if (size != 1) {
    result = exact::power_of_positive(size, y);
  }
  return std::signbit(x) && parity == Parity::odd ? -result : result;
}

// (exp(2 |x|) - 1) / (exp(2 |x|) + 1), the quotient corrected by its remainder.
double tanh(double x) noexcept {
  const double size = std::fabs(x);
  if (!(size >= 0x1p-28)) return x;  // also for NaN
  if (size > 22) return std::copysign(1.0, x);
  const exact::Double2 above = exact::expm1_of(2 * size);
  exact::Double2 below = exact::sum_of(above.high, 2);
  below.low += above.low;
  const double quotient = above.high / below.high;
  const exact::Double2 taken = exact::product_of(quotient, below.high);
  const double remainder = ((above.high - taken.high) - taken.low) + (above.low - quotient * below.low);
  return std::copysign(quotient + remainder / below.high, x);
}

}  // namespace qkv::core
