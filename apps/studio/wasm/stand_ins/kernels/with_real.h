// The loops of src/kernels/with_real.h but for those over 16 bits.
#pragma once

#include <type_traits>

#include "qkv/dtype.h"
#include "qkv/error.h"

namespace qkv::kernels {

inline void refuse_16_bits(DType dtype) {
  if (dtype == DType::f64 || dtype == DType::f32) return;
  throw InvalidArgument("engine", "dtype", "f32: the engine in a page has no loops over 16 bits; `qkv view` has",
                        name_of(dtype));
}

inline constexpr bool kTakes16Bits = false;

template <class Body>
decltype(auto) with_real(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  if (dtype == DType::f64) return body(double{});
  return body(float{});
}

template <class T, class Body>
decltype(auto) with_own_or_f32(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  if constexpr (std::is_same_v<T, double>) {
    if (dtype == DType::f64) return body(double{});
  }
  return body(float{});
}

/// body(Real{}) for the C++ type in which elements of `dtype` are computed: double, or float, to which autograd
/// converts 16 bits.
template <class Body>
decltype(auto) with_computed(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  if (dtype == DType::f64) return body(double{});
  return body(float{});
}

/// The same for loops that compute little an element: they read and write bf16 as it lies, for which a shift is enough.
template <class Body>
decltype(auto) with_stored(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  return with_computed(dtype, body);
}

}  // namespace qkv::kernels
