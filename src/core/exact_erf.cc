// erfc(x) = exp(-x^2) g(x) with polynomials for g, the scaled function (Cody 1969, Math. Comp. 23, has rational ones);
// x^2, the exponential and their product are carried in two parts. Near 0 the Taylor series of erf.
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "core/exact_math.h"
#include "core/exact_parts.h"
#include "core/exact_tables.h"

namespace qkv::core {
namespace exact {
namespace {

constexpr double kNearZero = 0.25;
constexpr double kLastErfc = 27.25;  // beyond it erfc is less than half the smallest number

const ErfcPiece& piece_of(double x) {
  if (x < 1) return kErfcPieces[static_cast<int>(x * 8)];
  const auto bits = std::bit_cast<std::uint64_t>(x);  // the exponent and three bits of the fraction
  return kErfcPieces[static_cast<int>(bits >> 49U) - (1023 << 3) + 8];
}

// erfc(x) for x from 0 to kLastErfc.
Scaled erfc_of(double x) {
  const ErfcPiece& piece = piece_of(x);
  const double u = x - piece.centre;
  double p = piece.rest[std::size(piece.rest) - 1];
  for (auto n = std::ssize(piece.rest) - 2; n >= 0; --n) p = p * u + piece.rest[n];
  const Double2 square = product_of(x, x);
  const Scaled bell = exp_of({-square.high, -square.low});
  return {.mantissa = product_of(ordered_sum(piece.first, p), bell.mantissa), .exponent = bell.exponent};
}

// from - erfc(x), for a `from` of 1 or 2.
double less_erfc(double from, double x) {
  const Scaled tail = erfc_of(x);
  const Double2 sum = ordered_sum(from, -scaled(tail.mantissa.high, tail.exponent));
  return sum.high + (sum.low - scaled(tail.mantissa.low, tail.exponent));
}

// erf(x) times `scale` in two parts, for |x| < kNearZero.
Double2 erf_near_zero(double x, double scale) {
  const double square = x * x;
  double p = kErfTerms[std::size(kErfTerms) - 1];
  for (auto n = std::ssize(kErfTerms) - 2; n >= 0; --n) p = p * square + kErfTerms[n];
  x *= scale;
  const Double2 parts = halves(x);
  return {kErfFirst.high * parts.high, kErfFirst.high * parts.low + (kErfFirst.low * x + x * square * p)};
}

}  // namespace
}  // namespace exact

double erf(double x) noexcept {
  const double size = std::fabs(x);
  if (size < exact::kNearZero) {
    if (x == 0) return x;                                // with its sign
    const double scale = size < 0x1p-200 ? 0x1p200 : 1;  // keeps products with the constant's parts normal
    const exact::Double2 result = exact::erf_near_zero(x, scale);
    return (result.high + result.low) / scale;
  }
  if (x != x) return x;
  const double result = size > 6 ? 1.0 : exact::less_erfc(1, size);
  return x < 0 ? -result : result;
}

double erfc(double x) noexcept {
  if (x != x) return x;
  if (std::fabs(x) < exact::kNearZero) {
    const exact::Double2 near = exact::erf_near_zero(x, 1);
    const exact::Double2 sum = exact::ordered_sum(1, -near.high);
    return sum.high + (sum.low - near.low);
  }
  if (x < 0) return x < -6 ? 2.0 : exact::less_erfc(2, -x);
  if (x > exact::kLastErfc) return 0;
  const exact::Scaled tail = exact::erfc_of(x);
  return exact::scaled(tail.mantissa.high, tail.exponent);
}

}  // namespace qkv::core
