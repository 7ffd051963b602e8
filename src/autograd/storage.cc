#include "autograd/storage.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "autograd/elementwise.h"
#include "core/bytes.h"
#include "qkv/autograd/variable.h"

namespace qkv::autograd {
namespace {

constexpr std::align_val_t kAlignment{64};

// Steps of an eighth of a power of two, so that blocks of nearly the same size can be reused for each other.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kSmallest = 512;
  const std::size_t step = std::max(kSmallest, std::bit_floor(std::max<std::size_t>(bytes, 1)) / 8);
  return (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

// Fresh pages cost more than the pass that fills them, and a training step asks for the same sizes as the last one. The
// pool holds at most twice the bytes that were in use at once; if sizes change from step to step, it then frees them
// all.
class Pool {
 public:
  void* take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      used_ += bytes;
      most_used_ = std::max(most_used_, used_);
      const auto found = free_.find(bytes);
      if (found != free_.end() && !found->second.empty()) {
        void* block = found->second.back();
        found->second.pop_back();
        held_ -= bytes;
        return block;
      }
    }
    try {
      return ::operator new(bytes, kAlignment);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      used_ -= bytes;
      throw;
    }
  }

  void give(void* block, std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    used_ -= bytes;
    if (held_ + bytes > 2 * most_used_) release_all();
    try {
      free_[bytes].push_back(block);
      held_ += bytes;
    } catch (const std::bad_alloc&) {
      ::operator delete(block, kAlignment);
    }
  }

  std::size_t held() {
    const std::scoped_lock lock(mutex_);
    return held_;
  }

  void release() {
    const std::scoped_lock lock(mutex_);
    release_all();
    most_used_ = used_;
  }

 private:
  void release_all() noexcept {
    for (auto& [bytes, blocks] : free_) {
      for (void* block : blocks) ::operator delete(block, kAlignment);
    }
    free_.clear();
    held_ = 0;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;
  std::size_t held_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

// Never destroyed: variables of static duration may outlive it.
Pool& pool() {
  static Pool* const kPool = new Pool;
  return *kPool;
}

}  // namespace

Storage::Storage(std::size_t bytes) : bytes_(rounded(bytes)) { block_ = pool().take(bytes_); }

Storage::Storage(Tensor tensor) : tensor_(std::move(tensor)) {}

Storage::~Storage() {
  if (block_ != nullptr) pool().give(block_, bytes_);
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

Value dense(const Value& value) { return value.view.is_contiguous() ? value : copied(value.view, value.dtype()); }

Value copied(const TensorView& view, DType dtype) {
  Value value = new_value(dtype, view.shape());
  copy_elements(view, value.writable());
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

std::size_t value_pool_bytes() { return autograd::pool().held(); }
void release_value_pool() { autograd::pool().release(); }

}  // namespace qkv
