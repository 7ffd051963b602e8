#include "qkv/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/element.h"

namespace qkv {
namespace {

constexpr std::size_t kAlignment = 64;

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
      throw InvalidArgument("TensorView", "index", "a place inside " + view.shape().to_string(),
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

// So that no offset into the view, in bytes, can overflow.
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
                        "one that is not");
}

// A byte of b8 that came from outside may be neither 0 nor 1, which a bool must not hold.
template <class T>
double read(const T* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const std::uint8_t*>(element) != 0 ? 1 : 0;
  } else {
    return core::to_double(*element);
  }
}

template <class Body>
void walk(const Shape& shape, const Strides& strides, int axis, std::int64_t offset, const Body& body) {
  if (axis == shape.rank()) {
    body(offset);
    return;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i) walk(shape, strides, axis + 1, offset + i * strides[axis], body);
}

// body(offset) for each element of the view, in row-major order.
template <class Body>
void for_each_offset(const TensorView& view, const Body& body) {
  if (view.size() > 0) walk(view.shape(), view.strides(), 0, 0, body);
}

}  // namespace

TensorView::TensorView(const void* data, DType dtype, const Shape& shape, const Strides& strides)
    : data_(data), dtype_(dtype), shape_(shape), strides_(strides) {
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
  return core::with_type(dtype_, [&]<class T>(T) { return read(static_cast<const T*>(data_) + offset); });
}

void TensorView::load_row(std::span<const std::int64_t> leading, std::span<double> row) const {
  require_row("TensorView::load_row", shape_, leading.size(), row.size());
  const std::int64_t start = offset_of(*this, leading);
  const std::int64_t stride = strides_[rank() - 1];
  core::with_type(dtype_, [&]<class T>(T) {
    const T* source = static_cast<const T*>(data_);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = read(source + start + static_cast<std::int64_t>(i) * stride);
  });
}

std::vector<double> TensorView::to_vector() const {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(size()));
  core::with_type(dtype_, [&]<class T>(T) {
    const T* source = static_cast<const T*>(data_);
    for_each_offset(*this, [&](std::int64_t offset) { result.push_back(read(source + offset)); });
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

TensorView TensorView::slice(int axis, std::int64_t begin, std::int64_t end) const {
  const int a = axis_index("TensorView::slice", axis, rank());
  if (begin < 0 || end < begin || end > shape_[a]) {
    throw InvalidArgument("TensorView::slice", "range", "0 <= begin <= end <= " + std::to_string(shape_[a]),
                          std::to_string(begin) + " to " + std::to_string(end));
  }
  TensorView result = *this;
  result.shape_[a] = end - begin;
  if (result.size() == 0) return result;
  const std::int64_t bytes = begin * strides_[a] * static_cast<std::int64_t>(size_of(dtype_));
  result.data_ = static_cast<const std::byte*>(data_) + bytes;
  return result;
}

TensorView TensorView::select(int axis, std::int64_t index) const {
  const int a = axis_index("TensorView::select", axis, rank());
  if (index < 0 || index >= shape_[a]) {
    throw InvalidArgument("TensorView::select", "index", "0 <= index < " + std::to_string(shape_[a]),
                          std::to_string(index));
  }
  TensorView result = slice(a, index, index + 1);
  result.shape_ = result.shape_.without(a);
  result.strides_ = result.strides_.without(a);
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
  return {data_, dtype_, shape, contiguous_strides(shape)};
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
  return {data_, dtype_, shape, strides};
}

void TensorView::require_dtype(DType wanted) const {
  if (dtype_ == wanted) return;
  throw InvalidArgument("TensorView", "dtype", name_of(wanted), name_of(dtype_));
}

MutableTensorView::MutableTensorView(Tensor& tensor)
    : MutableTensorView(tensor.data(), tensor.dtype(), tensor.shape(), contiguous_strides(tensor.shape())) {}

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

// Through the program's operator new, so that one who replaces it counts tensors, too.
void Tensor::Free::operator()(void* block) const noexcept { ::operator delete(block, std::align_val_t{kAlignment}); }

Tensor::Tensor(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  const auto bytes =
      static_cast<std::size_t>(Dims{shape.product(), static_cast<std::int64_t>(size_of(dtype))}.product());
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  data_.reset(::operator new(rounded, std::align_val_t{kAlignment}));
  std::memset(data_.get(), 0, rounded);
}

Tensor::Tensor(const TensorView& source, DType dtype) : Tensor(dtype, source.shape()) {
  if (source.dtype() == dtype && dtype != DType::b8 && source.is_contiguous()) {
    const std::size_t bytes = static_cast<std::size_t>(size()) * size_of(dtype);
    if (bytes > 0) std::memcpy(data_.get(), source.data(), bytes);
    return;
  }
  core::with_type(source.dtype(), [&]<class From>(From) {
    core::with_type(dtype, [&]<class To>(To) {
      const From* from = static_cast<const From*>(source.data());
      To* to = static_cast<To*>(data_.get());
      for_each_offset(source, [&](std::int64_t offset) {
        if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, bool>) {
          *to++ = from[offset];
        } else {
          *to++ = core::from_double<To>(read(from + offset));
        }
      });
    });
  });
}

Tensor::Tensor(const Tensor& other) : dtype_(other.dtype_) {
  if (!other.empty()) *this = Tensor(other.view());
}

Tensor::Tensor(Tensor&& other) noexcept : Tensor() { swap(other); }

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  Tensor taken(std::move(other));
  swap(taken);
  return *this;
}

void Tensor::swap(Tensor& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(shape_, other.shape_);
}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

TensorView Tensor::view() const { return {data_.get(), dtype_, shape_, contiguous_strides(shape_)}; }

void Tensor::set(std::initializer_list<std::int64_t> index, double value) {
  MutableTensorView(*this).set(index, value);
}

void Tensor::store_row(std::span<const std::int64_t> leading, std::span<const double> row) {
  MutableTensorView(*this).store_row(leading, row);
}

Tensor Tensor::reshaped(const Shape& shape) && {
  if (shape.product() != size()) {
    throw InvalidArgument("Tensor::reshaped", "shape", std::to_string(size()) + " elements", shape.to_string());
  }
  shape_ = shape;
  return std::move(*this);
}

void Tensor::require_count(std::int64_t count) const {
  if (count == size()) return;
  throw InvalidArgument("Tensor", "values", std::to_string(size()) + " of them for " + shape_.to_string(),
                        std::to_string(count));
}

}  // namespace qkv
