// The memory of values: blocks from a pool, each with a version that tells whether it was written since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "qkv/tensor.h"

namespace qkv::autograd {

class Storage {
 public:
  /// At least `bytes`, 64-byte aligned, from the pool; not initialised.
  explicit Storage(std::size_t bytes);
  explicit Storage(Tensor tensor);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  [[nodiscard]] void* data() noexcept { return block_ == nullptr ? tensor_.data() : block_; }
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  void raise_version() noexcept { ++version_; }

 private:
  Tensor tensor_;  // where the value came as one
  void* block_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t version_ = 0;
};

/// Elements and who keeps them alive. Copying shares.
struct Value {
  std::shared_ptr<Storage> storage = nullptr;
  TensorView view = {};

  [[nodiscard]] bool empty() const noexcept { return storage == nullptr; }
  [[nodiscard]] const Shape& shape() const noexcept { return view.shape(); }
  [[nodiscard]] DType dtype() const noexcept { return view.dtype(); }
  [[nodiscard]] std::int64_t size() const { return view.size(); }
  template <class T>
  [[nodiscard]] const T* data() const {
    return view.data_as<T>();
  }
  template <class T>
  [[nodiscard]] T* data() {
    return const_cast<T*>(view.data_as<T>());
  }
  /// To be written by who made it.
  [[nodiscard]] MutableTensorView writable() const {
    return {const_cast<void*>(view.data()), view.dtype(), view.shape(), view.strides()};
  }
  /// Nobody else holds these elements, and they lie densely: they may be written over.
  [[nodiscard]] bool is_exclusive() const { return storage.use_count() == 1 && view.is_contiguous(); }
};

/// Dense, not initialised.
[[nodiscard]] Value new_value(DType dtype, const Shape& shape);
[[nodiscard]] Value zero_value(DType dtype, const Shape& shape);
[[nodiscard]] Value value_of(Tensor tensor);
/// `value` itself where it is dense, else a dense copy.
[[nodiscard]] Value dense(const Value& value);
/// The elements of any view, copied, in another dtype where asked for.
[[nodiscard]] Value copied(const TensorView& view, DType dtype);
/// `value` itself where nobody else holds it, else a new one of its shape and dtype.
[[nodiscard]] Value place_like(const Value& value);

}  // namespace qkv::autograd
