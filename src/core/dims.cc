#include <algorithm>

#include "core/listed.h"
#include "qkv/tensor.h"

namespace qkv {

Dims::Dims(std::initializer_list<std::int64_t> values)
    : Dims(std::span<const std::int64_t>(values.begin(), values.size())) {}

Dims::Dims(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) push_back(value);
}

void Dims::refuse_rank() { throw InvalidArgument("Dims", "rank", "at most 8 axes", "9 or more"); }

Dims Dims::without(int axis) const {
  Dims result = *this;
  if (axis < 0 || axis >= rank_) return result;
  std::copy(begin() + axis + 1, end(), result.values_.begin() + axis);
  result.values_[index(--result.rank_)] = 0;
  return result;
}

Dims Dims::inserted(int axis, std::int64_t value) const {
  Dims result;
  for (int i = 0; i <= rank_; ++i) {
    if (i == axis) result.push_back(value);
    if (i < rank_) result.push_back((*this)[i]);
  }
  return result;
}

std::int64_t Dims::product() const {
  std::int64_t total = 1;
  bool empty = false;
  for (const std::int64_t value : *this) {
    if (value < 0) throw InvalidArgument("Dims", "shape", "extents of 0 or more", to_string());
    empty = empty || value == 0;
    if (__builtin_mul_overflow(total, std::max<std::int64_t>(value, 1), &total)) {
      throw InvalidArgument("Dims", "shape", "fewer than 2^63 elements", to_string());
    }
  }
  return empty ? 0 : total;
}

std::string Dims::to_string() const {
  return "[" + core::joined(*this, [](std::int64_t extent) { return std::to_string(extent); }) + "]";
}

Strides contiguous_strides(const Shape& shape) {
  static_cast<void>(shape.product());
  Strides strides = shape;
  std::uint64_t step = 1;  // unsigned: wraps only for a shape without elements, whose strides are not used
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
  }
  return strides;
}

}  // namespace qkv
