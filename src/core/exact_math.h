// The elementary functions of f64, of one implementation: the same digits on every machine.
#pragma once

namespace qkv::core {

/// Each is within 0.51 ulp of the true value, erf and erfc within 0.65, a subnormal result within 0.76, at every
/// argument; tests/core/exact_math_test.cc measures it. Special values as in C; a NaN has no particular sign or
/// payload, and no floating-point exception or errno is promised.
///
/// Additions, multiplications and divisions in a fixed order, never fused: any IEEE 754 machine that rounds each of
/// them to f64, to nearest, gives the same digits. Nothing is allocated. Methods: exact_math.cc, exact_sine.cc,
/// exact_erf.cc; why not a library: docs/decisions/0010-exact-f64.md.
[[nodiscard]] double exp(double x) noexcept;
[[nodiscard]] double log(double x) noexcept;
[[nodiscard]] double log1p(double x) noexcept;
[[nodiscard]] double pow(double x, double y) noexcept;
[[nodiscard]] double tanh(double x) noexcept;
[[nodiscard]] double erf(double x) noexcept;
[[nodiscard]] double erfc(double x) noexcept;
/// Of radians, however large.
[[nodiscard]] double sin(double x) noexcept;
[[nodiscard]] double cos(double x) noexcept;

}  // namespace qkv::core
