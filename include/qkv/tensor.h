// Dims, views with strides, and the owning tensor. Attention reads views of [B, H, T, D].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "qkv/dtype.h"
#include "qkv/error.h"

namespace qkv {

inline constexpr int kMaxRank = 8;

/// Up to eight extents or strides, a plain value.
class Dims {
 public:
  Dims() = default;
  /// Throws InvalidArgument for more than kMaxRank entries.
  Dims(std::initializer_list<std::int64_t> values);
  explicit Dims(std::span<const std::int64_t> values);

  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// `axis` is from 0 to rank() - 1; it is not checked.
  [[nodiscard]] std::int64_t operator[](int axis) const noexcept { return values_[index(axis)]; }
  [[nodiscard]] std::int64_t& operator[](int axis) noexcept { return values_[index(axis)]; }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return values_.data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return values_.data() + rank_; }
  [[nodiscard]] bool operator==(const Dims& other) const noexcept;

  void push_back(std::int64_t value);
  [[nodiscard]] Dims without(int axis) const;
  [[nodiscard]] Dims inserted(int axis, std::int64_t value) const;

  /// The product of all entries; 1 for rank 0. Throws InvalidArgument on a negative entry, and where the entries other
  /// than 0 multiply to 2^63 or more.
  [[nodiscard]] std::int64_t product() const;

  /// "[2, 8, 128, 64]"
  [[nodiscard]] std::string to_string() const;

 private:
  static std::size_t index(int axis) noexcept { return static_cast<std::size_t>(axis); }

  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;  // in elements, not bytes

/// Row-major strides of a dense tensor of this shape. Throws InvalidArgument where Dims::product does.
[[nodiscard]] Strides contiguous_strides(const Shape& shape);

/// Reads elements that somebody else owns. Any strides, negative and zero included. Copying copies the view.
class TensorView {
 public:
  /// No elements, shape [0].
  TensorView() = default;
  /// A dense row-major view. `data` must outlive the view.
  template <class T>
  TensorView(const T* data, const Shape& shape) : TensorView(data, dtype_of_v<T>, shape, contiguous_strides(shape)) {}
  /// Throws InvalidArgument for a negative extent, strides of another rank or that reach 2^63 bytes, data that is not
  /// aligned for the dtype, and null data unless there are no elements.
  TensorView(const void* data, DType dtype, const Shape& shape, const Strides& strides);

  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
  [[nodiscard]] int rank() const noexcept { return shape_.rank(); }
  /// Extent of an axis; a negative axis counts from the end.
  [[nodiscard]] std::int64_t dim(int axis) const;
  [[nodiscard]] std::int64_t size() const { return shape_.product(); }
  [[nodiscard]] bool is_contiguous() const;

  /// One element as a double (exact for all but large i64). Throws InvalidArgument out of bounds.
  [[nodiscard]] double at(std::initializer_list<std::int64_t> index) const;

  /// Copies the last axis at this leading index into `row` as doubles; `row` has dim(-1) places.
  void load_row(std::span<const std::int64_t> leading, std::span<double> row) const;

  /// All elements in row-major order as doubles. Allocates size() doubles.
  [[nodiscard]] std::vector<double> to_vector() const;

  /// Typed pointer to the first element; throws InvalidArgument if T is not the dtype.
  template <class T>
  [[nodiscard]] const T* data_as() const {
    require_dtype(dtype_of_v<T>);
    return static_cast<const T*>(data_);
  }

  // Views of the same elements; none allocates. A negative axis counts from the end.
  [[nodiscard]] TensorView transpose(int axis_a, int axis_b) const;
  [[nodiscard]] TensorView slice(int axis, std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] TensorView select(int axis, std::int64_t index) const;
  [[nodiscard]] TensorView unsqueeze(int axis) const;
  /// Throws InvalidArgument unless the view is contiguous and the sizes agree.
  [[nodiscard]] TensorView reshape(const Shape& shape) const;
  /// Right-aligned broadcasting as in NumPy: extents of 1 and missing leading axes get stride 0.
  [[nodiscard]] TensorView broadcast_to(const Shape& shape) const;

 private:
  void require_dtype(DType wanted) const;

  const void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_{0};
  Strides strides_{1};
};

class Tensor;

/// A TensorView whose elements may be written: for results that go into a caller's memory.
class MutableTensorView {
 public:
  /// No elements, shape [0].
  MutableTensorView() = default;
  MutableTensorView(Tensor& tensor);  // NOLINT(google-explicit-constructor): as a span
  /// A dense row-major view. `data` must outlive the view.
  template <class T>
  MutableTensorView(T* data, const Shape& shape) : view_(data, shape) {}
  /// Throws as TensorView does.
  MutableTensorView(void* data, DType dtype, const Shape& shape, const Strides& strides)
      : view_(data, dtype, shape, strides) {}

  operator TensorView() const { return view_; }  // NOLINT(google-explicit-constructor): as a span
  [[nodiscard]] const TensorView& view() const noexcept { return view_; }

  [[nodiscard]] void* data() const noexcept { return const_cast<void*>(view_.data()); }
  [[nodiscard]] DType dtype() const noexcept { return view_.dtype(); }
  [[nodiscard]] const Shape& shape() const noexcept { return view_.shape(); }
  [[nodiscard]] const Strides& strides() const noexcept { return view_.strides(); }
  [[nodiscard]] int rank() const noexcept { return view_.rank(); }
  [[nodiscard]] std::int64_t dim(int axis) const { return view_.dim(axis); }
  [[nodiscard]] std::int64_t size() const { return view_.size(); }

  /// Writes one element, rounding to the dtype. Throws InvalidArgument out of bounds.
  void set(std::initializer_list<std::int64_t> index, double value) const;
  /// Writes the last axis at this leading index; the counterpart of TensorView::load_row.
  void store_row(std::span<const std::int64_t> leading, std::span<const double> row) const;

  // As those of TensorView.
  [[nodiscard]] MutableTensorView transpose(int axis_a, int axis_b) const {
    return of(view_.transpose(axis_a, axis_b));
  }
  [[nodiscard]] MutableTensorView slice(int axis, std::int64_t begin, std::int64_t end) const {
    return of(view_.slice(axis, begin, end));
  }
  [[nodiscard]] MutableTensorView select(int axis, std::int64_t index) const { return of(view_.select(axis, index)); }
  [[nodiscard]] MutableTensorView unsqueeze(int axis) const { return of(view_.unsqueeze(axis)); }

 private:
  // Of a view of elements that may be written.
  static MutableTensorView of(const TensorView& view) {
    MutableTensorView result;
    result.view_ = view;
    return result;
  }

  TensorView view_;
};

/// Owns a dense, row-major, 64-byte aligned block. Copying copies the elements; moving is free and leaves an empty
/// tensor behind.
class Tensor {
 public:
  /// No elements, shape [0].
  Tensor() = default;
  /// Zero-filled. Throws InvalidArgument for a negative extent.
  Tensor(DType dtype, const Shape& shape);
  /// Copies `values` in row-major order. Throws InvalidArgument if their number is not the shape's.
  template <class T>
  Tensor(const std::vector<T>& values, const Shape& shape) : Tensor(dtype_of_v<T>, shape) {
    require_count(static_cast<std::int64_t>(values.size()));
    std::size_t i = 0;
    for (const T value : values) static_cast<T*>(data_.get())[i++] = value;
  }
  /// Copies any view into a dense tensor, converting to `dtype` (rounding to nearest even).
  Tensor(const TensorView& source, DType dtype);
  explicit Tensor(const TensorView& source) : Tensor(source, source.dtype()) {}
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  [[nodiscard]] TensorView view() const;
  operator TensorView() const { return view(); }  // NOLINT(google-explicit-constructor): as a span

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] int rank() const noexcept { return shape_.rank(); }
  [[nodiscard]] std::int64_t dim(int axis) const { return view().dim(axis); }
  [[nodiscard]] std::int64_t size() const { return shape_.product(); }
  /// True for a default-constructed tensor and one that was moved from: not the same as a size of 0.
  [[nodiscard]] bool empty() const noexcept { return data_ == nullptr; }
  [[nodiscard]] double at(std::initializer_list<std::int64_t> index) const { return view().at(index); }
  [[nodiscard]] std::vector<double> to_vector() const { return view().to_vector(); }

  [[nodiscard]] void* data() noexcept { return data_.get(); }
  [[nodiscard]] const void* data() const noexcept { return data_.get(); }
  /// All elements, typed; throws InvalidArgument if T is not the dtype.
  template <class T>
  [[nodiscard]] std::span<T> values() {
    return {const_cast<T*>(view().data_as<T>()), static_cast<std::size_t>(size())};
  }
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    return {view().data_as<T>(), static_cast<std::size_t>(size())};
  }

  /// Writes one element, rounding to the dtype. Throws InvalidArgument out of bounds.
  void set(std::initializer_list<std::int64_t> index, double value);
  /// Writes the last axis at this leading index; the counterpart of TensorView::load_row.
  void store_row(std::span<const std::int64_t> leading, std::span<const double> row);

  /// The same elements under another shape. Throws InvalidArgument if the sizes differ.
  [[nodiscard]] Tensor reshaped(const Shape& shape) &&;
  [[nodiscard]] Tensor to(DType dtype) const { return {view(), dtype}; }

 private:
  struct Free {
    void operator()(void* block) const noexcept;
  };
  void swap(Tensor& other) noexcept;
  void require_count(std::int64_t count) const;

  std::unique_ptr<void, Free> data_;
  DType dtype_ = DType::f32;
  Shape shape_{0};
};

}  // namespace qkv
