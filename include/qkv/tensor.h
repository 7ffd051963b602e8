// Dims, views with strides, and tensors, which keep their elements alive. Attention reads views of [B, H, T, D].
#pragma once

#include <algorithm>
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
  [[nodiscard]] bool operator==(const Dims& other) const noexcept { return std::ranges::equal(*this, other); }

  /// Throws InvalidArgument beyond kMaxRank entries.
  void push_back(std::int64_t value) {
    if (rank_ == kMaxRank) refuse_rank();
    values_[index(rank_++)] = value;
  }
  [[nodiscard]] Dims without(int axis) const;
  [[nodiscard]] Dims inserted(int axis, std::int64_t value) const;

  /// The product of all entries; 1 for rank 0. Throws InvalidArgument on a negative entry, and where the entries other
  /// than 0 multiply to 2^63 or more.
  [[nodiscard]] std::int64_t product() const;

  /// "[2, 8, 128, 64]"
  [[nodiscard]] std::string to_string() const;

 private:
  static std::size_t index(int axis) noexcept { return static_cast<std::size_t>(axis); }
  [[noreturn]] static void refuse_rank();

  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;  // in elements, not bytes

/// Row-major strides of a dense tensor of this shape. Throws InvalidArgument where Dims::product does.
[[nodiscard]] Strides contiguous_strides(const Shape& shape);

/// The memory that holds the elements. Only that of the CPU so far.
enum class Device : std::uint8_t { cpu };

/// A read-only view of elements that it does not own. Any strides, negative and zero included. Copying copies the view.
class TensorView {
 public:
  /// No elements, shape [0].
  TensorView() = default;
  /// A dense row-major view. `data` must outlive the view.
  template <class T>
  TensorView(const T* data, const Shape& shape) : TensorView(data, dtype_of_v<T>, shape, contiguous_strides(shape)) {}
  /// Throws InvalidArgument for a negative extent, strides of another rank or that reach 2^63 bytes, data that is not
  /// aligned for the dtype, and null data unless there are no elements.
  TensorView(const void* data, DType dtype, const Shape& shape, const Strides& strides, Device device = Device::cpu);

  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
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
  // Moves the first element; a view without elements stays where it is.
  void start_at(std::int64_t element);

  const void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Device device_ = Device::cpu;
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
  MutableTensorView(void* data, DType dtype, const Shape& shape, const Strides& strides, Device device = Device::cpu)
      : view_(data, dtype, shape, strides, device) {}

  operator TensorView() const { return view_; }  // NOLINT(google-explicit-constructor): as a span
  [[nodiscard]] const TensorView& view() const noexcept { return view_; }

  [[nodiscard]] void* data() const noexcept { return const_cast<void*>(view_.data()); }
  [[nodiscard]] DType dtype() const noexcept { return view_.dtype(); }
  [[nodiscard]] Device device() const noexcept { return view_.device(); }
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
  // The view must be of writable elements.
  static MutableTensorView of(const TensorView& view) {
    MutableTensorView result;
    result.view_ = view;
    return result;
  }

  TensorView view_;
};

/// Elements and their owner: a 64-byte aligned block that qkv allocated, or borrowed memory (a mapped file, DLPack's
/// memory, a caller's buffer), shared between tensors. Any strides; elements that qkv allocates are dense and
/// row-major.
///
/// A tensor is a value with copy on write. Copying it, slice(), transpose() and the like share the elements and
/// allocate none. Writing access (data() and values() of a tensor that is not const, set(), store_row(), a
/// MutableTensorView) first copies the elements into a dense block of its own unless is_private(), so writing to one
/// tensor never changes another. Two rules for pointers, spans and views that you keep:
/// - Those taken before such a copy still show the old elements, and stay valid while another tensor shares these.
/// - Do not write through one after the tensor was copied: it would write to the copy, too.
///
/// Const access, copying included, is safe from several threads. Why: docs/decisions/0011-shared-tensors.md.
class Tensor {
 public:
  /// No elements, shape [0].
  Tensor() = default;
  /// Zero-filled. Throws InvalidArgument for a negative extent, and for more bytes than the machine can address.
  Tensor(DType dtype, const Shape& shape);
  /// Copies `values` in row-major order. Throws InvalidArgument if their number is not the shape's.
  template <class T>
  Tensor(const std::vector<T>& values, const Shape& shape) : Tensor(dtype_of_v<T>, shape) {
    require_count(static_cast<std::int64_t>(values.size()));
    T* element = static_cast<T*>(data());
    for (const T value : values) *element++ = value;
  }
  /// Copies any view into a dense tensor, converting to `dtype` (rounding to nearest even).
  Tensor(const TensorView& source, DType dtype);
  explicit Tensor(const TensorView& source) : Tensor(source, source.dtype()) {}
  /// Shares the elements.
  Tensor(const Tensor& other) = default;
  Tensor& operator=(const Tensor& other) = default;
  /// Leaves an empty tensor behind.
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  /// Reads the elements of the view in place, without a copy. They must not change while `owner` lives; the tensor and
  /// those that share with it keep `owner` alive. If `owner` is null, the caller keeps the memory valid. A byte of b8
  /// is 0 or 1.
  [[nodiscard]] static Tensor borrow(const TensorView& view, std::shared_ptr<const void> owner);
  /// The same for writable elements: writing access to a tensor that no other shares writes into the view.
  [[nodiscard]] static Tensor borrow_writable(const MutableTensorView& view, std::shared_ptr<const void> owner);

  [[nodiscard]] const TensorView& view() const noexcept { return view_; }
  operator TensorView() const { return view_; }  // NOLINT(google-explicit-constructor): as a span

  [[nodiscard]] DType dtype() const noexcept { return view_.dtype(); }
  [[nodiscard]] Device device() const noexcept { return view_.device(); }
  [[nodiscard]] const Shape& shape() const noexcept { return view_.shape(); }
  [[nodiscard]] const Strides& strides() const noexcept { return view_.strides(); }
  [[nodiscard]] int rank() const noexcept { return view_.rank(); }
  [[nodiscard]] std::int64_t dim(int axis) const { return view_.dim(axis); }
  [[nodiscard]] std::int64_t size() const { return view_.size(); }
  [[nodiscard]] bool is_contiguous() const { return view_.is_contiguous(); }
  /// True for a default-constructed and a moved-from tensor. A tensor of size 0 is not empty in this sense.
  [[nodiscard]] bool empty() const noexcept { return owner_ == nullptr; }
  /// True if writing access would not copy: the elements are dense, may be written, and no other tensor shares them.
  [[nodiscard]] bool is_private() const;
  [[nodiscard]] double at(std::initializer_list<std::int64_t> index) const { return view_.at(index); }
  [[nodiscard]] std::vector<double> to_vector() const { return view_.to_vector(); }

  /// The first element. Writing access: dense afterwards.
  [[nodiscard]] void* data();
  /// The first element; the others lie at strides().
  [[nodiscard]] const void* data() const noexcept { return view_.data(); }
  /// All elements in row-major order, typed; throws InvalidArgument if T is not the dtype. Writing access.
  template <class T>
  [[nodiscard]] std::span<T> values() {
    static_cast<void>(view_.data_as<T>());
    return {static_cast<T*>(data()), static_cast<std::size_t>(size())};
  }
  /// The same for reading. Throws InvalidArgument unless is_contiguous().
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    const T* first = view_.data_as<T>();
    require_contiguous();
    return {first, static_cast<std::size_t>(size())};
  }

  /// Writes one element, rounding to the dtype. Throws InvalidArgument out of bounds.
  void set(std::initializer_list<std::int64_t> index, double value);
  /// Writes the last axis at this leading index; the counterpart of TensorView::load_row.
  void store_row(std::span<const std::int64_t> leading, std::span<const double> row);

  // As those of TensorView, sharing the elements.
  [[nodiscard]] Tensor transpose(int axis_a, int axis_b) const { return sharing(view_.transpose(axis_a, axis_b)); }
  [[nodiscard]] Tensor slice(int axis, std::int64_t begin, std::int64_t end) const {
    return sharing(view_.slice(axis, begin, end));
  }
  [[nodiscard]] Tensor select(int axis, std::int64_t index) const { return sharing(view_.select(axis, index)); }
  [[nodiscard]] Tensor unsqueeze(int axis) const { return sharing(view_.unsqueeze(axis)); }
  [[nodiscard]] Tensor reshape(const Shape& shape) const { return sharing(view_.reshape(shape)); }
  [[nodiscard]] Tensor broadcast_to(const Shape& shape) const { return sharing(view_.broadcast_to(shape)); }

  /// The tensor itself, sharing its elements, if it is contiguous; else a dense copy.
  [[nodiscard]] Tensor contiguous() const { return is_contiguous() ? *this : Tensor(view_); }
  /// The same elements under another shape, dense. Throws InvalidArgument if the sizes differ.
  [[nodiscard]] Tensor reshaped(const Shape& shape) &&;
  /// Dense and of this dtype; shares the elements if they already are.
  [[nodiscard]] Tensor to(DType dtype) const;

 private:
  enum class Access : std::uint8_t { read, write };

  [[nodiscard]] Tensor sharing(const TensorView& view) const;
  void require_count(std::int64_t count) const;
  void require_contiguous() const;

  std::shared_ptr<const void> owner_;  // its use count is the number of tensors that share
  TensorView view_;
  Access access_ = Access::write;
};

}  // namespace qkv
