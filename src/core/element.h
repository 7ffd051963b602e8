// Reading and writing one element of a runtime dtype.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "qkv/dtype.h"

namespace qkv::core {

/// Calls `body` with a value-initialised element of the C++ type that `dtype` names.
template <class Body>
decltype(auto) with_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f64:
      return body(double{});
    case DType::f32:
      return body(float{});
    case DType::f16:
      return body(Half{});
    case DType::bf16:
      return body(BFloat16{});
    case DType::i64:
      return body(std::int64_t{});
    case DType::i32:
      return body(std::int32_t{});
    case DType::i8:
      return body(std::int8_t{});
    case DType::u8:
      return body(std::uint8_t{});
    case DType::b8:
      return body(bool{});
  }
  __builtin_unreachable();
}

/// Double to float with round-to-odd, so that a second rounding to f16 or bf16 is as if it were the only one.
inline float round_to_odd(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || !std::isfinite(nearest)) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if ((bits & 1U) != 0) return nearest;
  const bool away = std::fabs(back) > std::fabs(value);
  return std::bit_cast<float>(away ? bits - 1U : bits + 1U);
}

template <class T>
double to_double(T value) noexcept {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Rounds to nearest even for the floating types; an integer type truncates and saturates, NaN gives 0.
template <class T>
T from_double(double value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
    if (!(value > kLow)) return value <= kLow ? std::numeric_limits<T>::min() : T{};
    return value >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(round_to_odd(value));
  }
}

}  // namespace qkv::core
