#include <algorithm>
#include <bit>
#include <utility>

#include "core/bytes.h"
#include "core/walk.h"
#include "qkv/tensor.h"

namespace qkv {
namespace {

int axis_index(const char* function, int axis, int rank) {
  const int index = axis < 0 ? axis + rank : axis;
  if (index < 0 || index >= rank) {
    throw InvalidArgument(function, "axis", "an axis of a rank " + std::to_string(rank) + " view",
                          std::to_string(axis));
  }
  return index;
}

std::int64_t offset_of(const TensorView& view, std::span<const std::int64_t> index) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const int axis = static_cast<int>(i);
    if (index[i] < 0 || index[i] >= view.shape()[axis]) {
      throw InvalidArgument("TensorView", "index", "an index inside " + view.shape().to_string(),
                            Dims(index).to_string());
    }
    offset += index[i] * view.strides()[axis];
  }
  return offset;
}

void require_rank(const TensorView& view, std::size_t wanted) {
  if (static_cast<std::size_t>(view.rank()) == wanted) return;
  throw InvalidArgument("TensorView", "index", std::to_string(view.rank()) + " places", std::to_string(wanted));
}

void require_row(const char* function, const Shape& shape, std::size_t leading, std::size_t row) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (leading + 1 != rank) {
    throw InvalidArgument(function, "leading", "one place for each axis of " + shape.to_string() + " but the last",
                          std::to_string(leading) + " of them");
  }
  const std::int64_t width = shape[shape.rank() - 1];
  if (static_cast<std::int64_t>(row) == width) return;
  throw InvalidArgument(function, "row", std::to_string(width) + " places", std::to_string(row));
}

// Then no byte offset into the view overflows.
void require_reach(DType dtype, const Shape& shape, const Strides& strides) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::int64_t step = 0;
    bool overflow = __builtin_mul_overflow(std::max<std::int64_t>(shape[axis] - 1, 0), strides[axis], &step);
    overflow = __builtin_mul_overflow(step, size, &step) || overflow;
    std::int64_t& end = step < 0 ? low : high;
    overflow = __builtin_add_overflow(end, step, &end) || overflow;
    if (overflow) {
      throw InvalidArgument("TensorView", "strides", "a reach of less than 2^63 bytes over " + shape.to_string(),
                            strides.to_string());
    }
  }
}

void require_data(const void* data, DType dtype, std::int64_t count) {
  if (data == nullptr && count > 0) {
    throw InvalidArgument("TensorView", "data", "the address of " + std::to_string(count) + " elements", "null");
  }
  if (std::bit_cast<std::uintptr_t>(data) % size_of(dtype) == 0) return;
  throw InvalidArgument("TensorView", "data", "an address aligned for " + std::string(name_of(dtype)),
                        "an unaligned one");
}

}  // namespace

TensorView::TensorView(const void* data, DType dtype, const Shape& shape, const Strides& strides, Device device)
    : data_(data), dtype_(dtype), device_(device), shape_(shape), strides_(strides) {
  const std::int64_t count = shape.product();
  if (shape.rank() != strides.rank()) {
    throw InvalidArgument("TensorView", "strides", "one for each axis of " + shape.to_string(), strides.to_string());
  }
  require_reach(dtype, shape, strides);
  require_data(data, dtype, count);
}

std::int64_t TensorView::dim(int axis) const { return shape_[axis_index("TensorView::dim", axis, rank())]; }

bool TensorView::is_contiguous() const {
  if (size() == 0) return true;
  const Strides dense = contiguous_strides(shape_);
  for (int axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] > 1 && strides_[axis] != dense[axis]) return false;
  }
  return true;
}

double TensorView::at(std::initializer_list<std::int64_t> index) const {
  require_rank(*this, index.size());
  const std::int64_t offset = offset_of(*this, {index.begin(), index.size()});
  return core::with_type(dtype_, [&]<class T>(T) { return core::read(static_cast<const T*>(data_) + offset); });
}

void TensorView::load_row(std::span<const std::int64_t> leading, std::span<double> row) const {
  require_row("TensorView::load_row", shape_, leading.size(), row.size());
  const std::int64_t start = offset_of(*this, leading);
  const std::int64_t stride = strides_[rank() - 1];
  core::with_type(dtype_, [&]<class T>(T) {
    const T* source = static_cast<const T*>(data_);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = core::read(source + start + static_cast<std::int64_t>(i) * stride);
    }
  });
}

std::vector<double> TensorView::to_vector() const {
  std::vector<double> result(core::checked_count<double>("TensorView::to_vector", shape_));
  core::with_type(dtype_, [&, to = result.data()]<class T>(T) mutable {
    const T* source = static_cast<const T*>(data_);
    core::for_each_offset(*this, [&](std::int64_t offset) { *to++ = core::read(source + offset); });
  });
  return result;
}

TensorView TensorView::transpose(int axis_a, int axis_b) const {
  const int a = axis_index("TensorView::transpose", axis_a, rank());
  const int b = axis_index("TensorView::transpose", axis_b, rank());
  TensorView result = *this;
  std::swap(result.shape_[a], result.shape_[b]);
  std::swap(result.strides_[a], result.strides_[b]);
  return result;
}

void TensorView::start_at(std::int64_t element) {
  if (size() == 0) return;
  data_ = static_cast<const std::byte*>(data_) + element * static_cast<std::int64_t>(size_of(dtype_));
}

TensorView TensorView::slice(int axis, std::int64_t begin, std::int64_t end) const {
  const int a = axis_index("TensorView::slice", axis, rank());
  if (begin < 0 || end < begin || end > shape_[a]) {
    throw InvalidArgument("TensorView::slice", "range", "0 <= begin <= end <= " + std::to_string(shape_[a]),
                          std::to_string(begin) + " to " + std::to_string(end));
  }
  TensorView result = *this;
  result.shape_[a] = end - begin;
  result.start_at(begin * strides_[a]);
  return result;
}

TensorView TensorView::select(int axis, std::int64_t index) const {
  const int a = axis_index("TensorView::select", axis, rank());
  if (index < 0 || index >= shape_[a]) {
    throw InvalidArgument("TensorView::select", "index", "0 <= index < " + std::to_string(shape_[a]),
                          std::to_string(index));
  }
  TensorView result = *this;
  result.shape_ = shape_.without(a);
  result.strides_ = strides_.without(a);
  result.start_at(index * strides_[a]);
  return result;
}

TensorView TensorView::unsqueeze(int axis) const {
  const int a = axis_index("TensorView::unsqueeze", axis, rank() + 1);
  TensorView result = *this;
  result.shape_ = shape_.inserted(a, 1);
  result.strides_ = strides_.inserted(a, 0);
  return result;
}

TensorView TensorView::reshape(const Shape& shape) const {
  if (!is_contiguous()) {
    throw InvalidArgument("TensorView::reshape", "view", "contiguous strides", strides_.to_string());
  }
  if (shape.product() != size()) {
    throw InvalidArgument("TensorView::reshape", "shape", std::to_string(size()) + " elements", shape.to_string());
  }
  return {data_, dtype_, shape, contiguous_strides(shape), device_};
}

TensorView TensorView::broadcast_to(const Shape& shape) const {
  const auto fail = [&] {
    throw InvalidArgument("TensorView::broadcast_to", "shape", "a shape that " + shape_.to_string() + " broadcasts to",
                          shape.to_string());
  };
  if (shape.rank() < rank()) fail();
  Strides strides = shape;
  const int missing = shape.rank() - rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int own = axis - missing;
    if (own >= 0 && shape_[own] != 1 && shape_[own] != shape[axis]) fail();
    strides[axis] = own < 0 || shape_[own] == 1 ? 0 : strides_[own];
  }
  return {data_, dtype_, shape, strides, device_};
}

void TensorView::require_dtype(DType wanted) const {
  if (dtype_ == wanted) return;
  throw InvalidArgument("TensorView", "dtype", name_of(wanted), name_of(dtype_));
}

MutableTensorView::MutableTensorView(Tensor& tensor)
    : MutableTensorView(tensor.data(), tensor.dtype(), tensor.shape(), contiguous_strides(tensor.shape()),
                        tensor.device()) {}

void MutableTensorView::set(std::initializer_list<std::int64_t> index, double value) const {
  require_rank(view_, index.size());
  const std::int64_t offset = offset_of(view_, {index.begin(), index.size()});
  core::with_type(dtype(), [&]<class T>(T) { static_cast<T*>(data())[offset] = core::from_double<T>(value); });
}

void MutableTensorView::store_row(std::span<const std::int64_t> leading, std::span<const double> row) const {
  require_row("MutableTensorView::store_row", shape(), leading.size(), row.size());
  const std::int64_t start = offset_of(view_, leading);
  const std::int64_t stride = strides()[rank() - 1];
  core::with_type(dtype(), [&]<class T>(T) {
    T* target = static_cast<T*>(data()) + start;
    for (std::size_t i = 0; i < row.size(); ++i) {
      target[static_cast<std::int64_t>(i) * stride] = core::from_double<T>(row[i]);
    }
  });
}

}  // namespace qkv
