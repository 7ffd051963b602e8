#include "autograd/storage.h"

#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "core/block_pool.h"
#include "core/bytes.h"
#include "kernels/elements.h"
#include "qkv/autograd/variable.h"

namespace qkv::autograd {
Storage::Storage(std::size_t bytes) : block_(bytes) {}

Storage::Storage(Tensor tensor) : tensor_(std::move(tensor)) {}

struct Dequantised {
  QuantisedTensor blocks;
  std::mutex mutex;
  Value numbers;  // empty until they are asked for
};

Storage::Storage(QuantisedTensor blocks) : dequantised_(std::make_unique<Dequantised>()) {
  dequantised_->blocks = std::move(blocks);
}

Storage::~Storage() = default;

const QuantisedTensor* Storage::quantised() const noexcept {
  return dequantised_ == nullptr ? nullptr : &dequantised_->blocks;
}

const Value& Storage::numbers() const {
  const std::scoped_lock lock(dequantised_->mutex);
  if (dequantised_->numbers.empty()) dequantised_->numbers = value_of(dequantised_->blocks.dequantised());
  return dequantised_->numbers;
}

Value new_value(DType dtype, const Shape& shape) {
  auto storage = std::make_shared<Storage>(core::checked_bytes("Variable", shape, size_of(dtype)));
  const TensorView view(storage->block(), dtype, shape, contiguous_strides(shape));
  return {.storage = std::move(storage), .view = view};
}

Value zero_value(DType dtype, const Shape& shape) {
  Value value = new_value(dtype, shape);
  std::memset(value.storage->block(), 0, static_cast<std::size_t>(value.size()) * size_of(dtype));
  return value;
}

Value value_of(Tensor tensor) {
  const TensorView view = tensor.view();
  return {.storage = std::make_shared<Storage>(std::move(tensor)), .view = view};
}

Value value_of(QuantisedTensor blocks) {
  static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const TensorView form = TensorView(&kNone, Shape{1}).broadcast_to(blocks.shape());
  return {.storage = std::make_shared<Storage>(std::move(blocks)), .view = form};
}

const Value& plain(const Value& value) {
  return value.storage == nullptr || value.storage->quantised() == nullptr ? value : value.storage->numbers();
}

Value dense(const Value& value) { return value.view.is_contiguous() ? value : copied(value.view, value.dtype()); }

Value copied(const TensorView& view, DType dtype) {
  Value value = new_value(dtype, view.shape());
  kernels::copy_elements(view, value.writable());
  return value;
}

Value in_dtype(const Value& value, DType dtype) { return value.dtype() == dtype ? value : copied(value.view, dtype); }

Value to_be_written(const Value& value) {
  if (value.storage->is_private() && value.view.is_contiguous()) return value;
  Value own = copied(value.view, value.dtype());
  own.storage->keep(value.storage);
  return own;
}

Value place_like(const Value& value) { return value.is_exclusive() ? value : new_value(value.dtype(), value.shape()); }

}  // namespace qkv::autograd

namespace qkv {

std::size_t value_pool_bytes() { return core::pooled_bytes(); }
void release_value_pool() { core::release_pooled_blocks(); }

}  // namespace qkv
