// Rows of any storage type and strides as dense rows of f32 or f64, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/element.h"
#include "kernels/linear/loops.h"
#include "qkv/tensor.h"

namespace qkv::kernels::linear {

/// The smallest multiple of kRowBytes that holds `count` numbers, in numbers.
template <class T>
std::int64_t padded(std::int64_t count) {
  constexpr std::int64_t kNumbers = kRowBytes / static_cast<std::int64_t>(sizeof(T));
  return (count + kNumbers - 1) / kNumbers * kNumbers;
}

/// Rows `t` to `t` + `count` of the matrix of batch entry b and head h; rows of `to` are `width` apart.
template <class T>
void load_rows(const TensorView& from, std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t count, T* to,
               std::int64_t width) {
  const Strides& strides = from.strides();
  const std::int64_t columns = from.shape()[3];
  core::with_type(from.dtype(), [&]<class Element>(Element /*type*/) {
    const auto* first = static_cast<const Element*>(from.data()) + b * strides[0] + h * strides[1];
    for (std::int64_t n = 0; n < count; ++n) {
      const Element* row = first + (t + n) * strides[2];
      T* into = to + n * width;
      if (std::is_same_v<Element, T> && strides[3] == 1) {
        std::memcpy(into, row, static_cast<std::size_t>(columns) * sizeof(T));
        continue;
      }
      for (std::int64_t d = 0; d < columns; ++d) into[d] = static_cast<T>(core::to_double(row[d * strides[3]]));
    }
  });
}

/// Row t of the matrix of batch entry b and head h of a dense tensor.
template <class T>
void store_row(const T* from, Tensor& to, std::int64_t b, std::int64_t h, std::int64_t t) {
  const Shape& shape = to.shape();
  const std::int64_t row = (b * shape[1] + h) * shape[2] + t;
  core::with_type(to.dtype(), [&]<class Element>(Element /*type*/) {
    Element* into = static_cast<Element*>(to.data()) + row * shape[3];
    for (std::int64_t d = 0; d < shape[3]; ++d) into[d] = core::from_double<Element>(static_cast<double>(from[d]));
  });
}

}  // namespace qkv::kernels::linear
