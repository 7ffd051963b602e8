// The C++ types for which loops are compiled, and which of them a dtype means.
#pragma once

#include <type_traits>

#include "qkv/dtype.h"

namespace qkv::kernels {

/// body(T{}) for the C++ type of f64, f32, bf16 or f16; the dtype of a variable is one of these.
template <class Body>
decltype(auto) with_real(DType dtype, Body&& body) {
  if (dtype == DType::f64) return body(double{});
  if (dtype == DType::f32) return body(float{});
  if (dtype == DType::f16) return body(Half{});
  return body(BFloat16{});
}

/// Whether there are loops over f16 and bf16.
inline constexpr bool kTakes16Bits = true;

/// body(T{}) where `dtype` is that of T, else body(float{}).
template <class T, class Body>
decltype(auto) with_own_or_f32(DType dtype, Body&& body) {
  if constexpr (!std::is_same_v<T, float>) {
    if (dtype == dtype_of_v<T>) return body(T{});
  }
  return body(float{});
}

/// body(Real{}) for the C++ type in which elements of `dtype` are computed: double, or float, to which autograd
/// converts 16 bits.
template <class Body>
decltype(auto) with_computed(DType dtype, Body&& body) {
  if (dtype == DType::f64) return body(double{});
  return body(float{});
}

/// The same for loops that compute little an element: they read and write bf16 as it lies, for which a shift is enough.
template <class Body>
decltype(auto) with_stored(DType dtype, Body&& body) {
  if (dtype == DType::bf16) return body(BFloat16{});
  return with_computed(dtype, body);
}

}  // namespace qkv::kernels
