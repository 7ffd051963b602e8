// The elements of a view, one after the other.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/element.h"
#include "qkv/tensor.h"

namespace qkv::core {

// A b8 byte from outside may be neither 0 nor 1, which a bool must not hold.
template <class T>
[[nodiscard]] double read(const T* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const std::uint8_t*>(element) != 0 ? 1 : 0;
  } else {
    return to_double(*element);
  }
}

template <class Body>
void walk(const Shape& shape, const Strides& strides, int axis, std::int64_t offset, const Body& body) {
  if (axis == shape.rank()) {  // of rank 0
    body(offset);
    return;
  }
  const std::int64_t size = shape[axis], stride = strides[axis];
  if (axis + 1 == shape.rank()) {
    for (std::int64_t i = 0; i < size; ++i) body(offset + i * stride);
    return;
  }
  for (std::int64_t i = 0; i < size; ++i) walk(shape, strides, axis + 1, offset + i * stride, body);
}

// body(offset) for each element of the view, in row-major order.
template <class Body>
void for_each_offset(const TensorView& view, const Body& body) {
  if (view.size() > 0) walk(view.shape(), view.strides(), 0, 0, body);
}

}  // namespace qkv::core
