// The memory of values: blocks from a pool, each with a version that counts writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/block_pool.h"
#include "qkv/quantised_tensor.h"
#include "qkv/tensor.h"

namespace qkv::autograd {

class KeptWeight;
struct Dequantised;
struct Value;

class Storage {
 public:
  /// At least `bytes`, 64-byte aligned, from the pool; not initialised.
  explicit Storage(std::size_t bytes);
  /// Shares the tensor's elements, which may be read only.
  explicit Storage(Tensor tensor);
  /// A quantised weight, whose numbers are made when they are asked for.
  explicit Storage(QuantisedTensor blocks);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage();

  /// The bytes of a block from the pool; null if the storage is a tensor's.
  [[nodiscard]] void* block() const noexcept { return block_.data(); }
  /// True if nobody else holds these bytes and they are writable.
  [[nodiscard]] bool is_private() const { return block() != nullptr || tensor_.is_private(); }
  /// Null but for a quantised weight.
  [[nodiscard]] const QuantisedTensor* quantised() const noexcept;
  /// The numbers of a quantised weight in f32, made at the first call and kept. Safe from several threads.
  [[nodiscard]] const Value& numbers() const;
  /// Keeps `other` alive as long as this, because views of it exist.
  void keep(std::shared_ptr<const Storage> other) { replaced_ = std::move(other); }
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  void raise_version() noexcept { ++version_; }
  /// What KeptWeight::of() keeps here; safe from several threads.
  [[nodiscard]] std::shared_ptr<const KeptWeight> kept_weight() const { return kept_weight_.load(); }
  void keep_weight(std::shared_ptr<const KeptWeight> weight) { kept_weight_.store(std::move(weight)); }

 private:
  Tensor tensor_;  // if the value came as one
  std::shared_ptr<const Storage> replaced_;
  core::PooledBlock block_;
  std::uint64_t version_ = 0;
  std::unique_ptr<Dequantised> dequantised_;  // of a quantised weight
  std::atomic<std::shared_ptr<const KeptWeight>> kept_weight_;
};

/// Elements and their owner. Copying shares. The view of a quantised weight is of f32, and NaN.
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
  /// For writing by the function that made it.
  [[nodiscard]] MutableTensorView writable() const {
    return {const_cast<void*>(view.data()), view.dtype(), view.shape(), view.strides()};
  }
  /// True if nobody else holds these elements and they are dense: they may be overwritten.
  [[nodiscard]] bool is_exclusive() const {
    return storage.use_count() == 1 && view.is_contiguous() && storage->is_private();
  }
};

/// Dense, not initialised.
[[nodiscard]] Value new_value(DType dtype, const Shape& shape);
[[nodiscard]] Value zero_value(DType dtype, const Shape& shape);
/// Shares the tensor's elements.
[[nodiscard]] Value value_of(Tensor tensor);
[[nodiscard]] Value value_of(QuantisedTensor blocks);
/// `value` itself, or the numbers of a quantised weight.
[[nodiscard]] const Value& plain(const Value& value);
/// `value` itself if it is dense, else a dense copy.
[[nodiscard]] Value dense(const Value& value);
/// A copy of the elements of any view, in another dtype if asked for.
[[nodiscard]] Value copied(const TensorView& view, DType dtype);
/// `value` itself if it has the dtype, else a copy that has.
[[nodiscard]] Value in_dtype(const Value& value, DType dtype);
/// `value` itself if its bytes are writable, else a copy that keeps it alive.
[[nodiscard]] Value to_be_written(const Value& value);
/// `value` itself if nobody else holds it, else a new one of its shape and dtype.
[[nodiscard]] Value place_like(const Value& value);

}  // namespace qkv::autograd
