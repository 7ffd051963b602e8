// Numbers of twice f64's precision as sums of two, with operations that round in f64 alone.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>

namespace qkv::core::exact {

static_assert(FLT_EVAL_METHOD == 0, "f64 results must be rounded to f64 at each operation");

/// high + low, where low is at most about an ulp of high.
struct Double2 {
  double high;
  double low;
};

/// a + b without error (Dekker 1971); |a| >= |b|, or a is 0.
constexpr Double2 ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b without error (Knuth, TAOCP 2, 4.2.2).
constexpr Double2 sum_of(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// x as a number of 26 bits and one of 27.
constexpr Double2 halves(double x) {
  const auto high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x7FFFFFF});
  return {high, x - high};
}

/// a * b without error, where nothing overflows or underflows (Dekker 1971).
constexpr Double2 product_of(double a, double b) {
  const Double2 x = halves(a);
  const Double2 y = halves(b);
  const double product = a * b;
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

/// a * b to about 2^-104 of it.
constexpr Double2 product_of(Double2 a, Double2 b) {
  const Double2 first = product_of(a.high, b.high);
  return ordered_sum(first.high, first.low + (a.high * b.low + a.low * b.high));
}

/// The number nearest to x, from -2^51 to 2^51.
constexpr double nearest_whole(double x) {
  constexpr double kShift = 0x1.8p52;  // leaves no bits behind the point
  return (x + kShift) - kShift;
}

/// 2^n for a normal result.
constexpr double power_of_two(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U); }

/// x * 2^n, rounded once where it is subnormal; |n| up to about 2000.
constexpr double scaled(double x, int n) {
  const int half = n / 2;
  return x * power_of_two(half) * power_of_two(n - half);
}

/// (mantissa.high + mantissa.low) * 2^exponent.
struct Scaled {
  Double2 mantissa;
  int exponent;
};

/// exp(x.high + x.low) to about 2^-68 of it, the mantissa from 0.99 to 2; |x| up to 750.
[[nodiscard]] Scaled exp_of(Double2 x) noexcept;

}  // namespace qkv::core::exact
