// One element of f64, f32, bf16 or f16: how it is read, computed with and rounded back. Written so that loops
// vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "qkv/dtype.h"

/// On a function or lambda that has to be inlined to be compiled for the vectors of the loop that it is in.
#define QKV_INLINED __attribute__((always_inline))

namespace qkv::kernels {

/// The type in which elements of T are computed.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Without branches: a loop over either has no instruction for f16 that every target has. Same bits as Half's own.
QKV_INLINED inline float from_half(std::uint16_t half) {
  const std::uint32_t moved = (half & 0x7FFFU) << 13U;
  const auto normal = std::bit_cast<float>(moved + 0x38000000U);
  const float subnormal = std::bit_cast<float>(moved + 0x38800000U) - 0x1p-14F;  // exact: a multiple of 2^-24
  const auto special = std::bit_cast<float>(moved | 0x7F800000U);
  const float finite = moved < 0x00800000U ? subnormal : normal;
  const float magnitude = moved >= 0x0F800000U ? special : finite;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (half & 0x8000U) << 16U);
}

QKV_INLINED inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t normal = (magnitude + 0xFFFU + ((magnitude >> 13U) & 1U) - 0x38000000U) >> 13U;
  // Where the spacing of floats is that of subnormal halves, the sum rounds as they do.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t quiet = 0x7E00U | ((magnitude >> 13U) & 0x3FFU);
  const std::uint32_t finite = magnitude < 0x38800000U ? subnormal : normal;
  const std::uint32_t number = magnitude >= 0x477FF000U ? 0x7C00U : finite;
  return static_cast<std::uint16_t>((magnitude > 0x7F800000U ? quiet : number) | ((bits >> 16U) & 0x8000U));
}

template <class T>
QKV_INLINED inline Computed<T> load(const T& element) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(element.bits) << 16U);
  } else if constexpr (std::is_same_v<T, Half>) {
    return from_half(element.bits);
  } else {
    return element;
  }
}

template <class T>
QKV_INLINED inline void store(T& element, Computed<T> value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t quiet = (bits >> 16U) | 0x40U;
    element.bits = static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : rounded);
  } else if constexpr (std::is_same_v<T, Half>) {
    element.bits = to_half(value);
  } else {
    element = value;
  }
}

}  // namespace qkv::kernels
