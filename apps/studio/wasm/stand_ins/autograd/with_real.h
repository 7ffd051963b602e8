// The loops of src/autograd/with_real.h but for those over 16 bits: the models of the box compute in f32.
#pragma once

#include <type_traits>

#include "qkv/dtype.h"
#include "qkv/error.h"

namespace qkv::autograd {

inline void refuse_16_bits(DType dtype) {
  if (dtype == DType::f64 || dtype == DType::f32) return;
  throw Error("the engine in a page computes in f32 and f64; `qkv view` does in 16 bits as well");
}

template <class Body>
decltype(auto) with_real(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  if (dtype == DType::f64) return body(double{});
  return body(float{});
}

template <class T, class Body>
decltype(auto) with_parameter(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  return body(T{});
}

template <class T, class Body>
decltype(auto) with_own_or_f32(DType dtype, Body&& body) {
  refuse_16_bits(dtype);
  if constexpr (std::is_same_v<T, double>) {
    if (dtype == DType::f64) return body(double{});
  }
  return body(float{});
}

}  // namespace qkv::autograd
