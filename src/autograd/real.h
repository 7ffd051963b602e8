// One element of f64, f32 or bf16: how it is read, computed with and rounded back. Written so that loops vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "autograd/vectorised.h"
#include "qkv/dtype.h"

namespace qkv::autograd {

/// What elements of T are computed in.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
QKV_INLINED inline Computed<T> load(const T& element) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(element.bits) << 16U);
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
  } else {
    element = value;
  }
}

/// body(T{}) for the C++ type of f64, f32 or bf16; the dtype of a variable is one of these.
template <class Body>
decltype(auto) with_real(DType dtype, Body&& body) {
  if (dtype == DType::f64) return body(double{});
  if (dtype == DType::f32) return body(float{});
  return body(BFloat16{});
}

}  // namespace qkv::autograd
