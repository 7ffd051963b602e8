#include "qkv/tensor.h"

#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/bytes.h"
#include "core/walk.h"

namespace qkv {
namespace {

constexpr std::size_t kAlignment = 64;

// Uses the program's operator new, so that a replaced one counts tensors too.
struct Free {
  void operator()(void* block) const noexcept { ::operator delete(block, std::align_val_t{kAlignment}); }
};

// Each borrowed view gets an owner of its own, so that its use count is the number of tensors that share.
struct Loan {
  std::shared_ptr<const void> owner;
};

}  // namespace

Tensor::Tensor(DType dtype, const Shape& shape) {
  const std::size_t bytes = core::checked_bytes("Tensor", shape, size_of(dtype));
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  std::unique_ptr<void, Free> block(::operator new(rounded, std::align_val_t{kAlignment}));
  std::memset(block.get(), 0, rounded);
  view_ = {block.get(), dtype, shape, contiguous_strides(shape)};
  owner_ = std::move(block);
}

Tensor::Tensor(const TensorView& source, DType dtype) : Tensor(dtype, source.shape()) {
  if (source.dtype() == dtype && dtype != DType::b8 && source.is_contiguous()) {
    const std::size_t bytes = static_cast<std::size_t>(size()) * size_of(dtype);
    if (bytes > 0) std::memcpy(data(), source.data(), bytes);
    return;
  }
  core::with_type(source.dtype(), [&]<class From>(From) {
    core::with_type(dtype, [&]<class To>(To) {
      const From* from = static_cast<const From*>(source.data());
      To* to = static_cast<To*>(data());
      core::for_each_offset(source, [&](std::int64_t offset) {
        if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, bool>) {
          *to++ = from[offset];
        } else {
          *to++ = core::from_double<To>(core::read(from + offset));
        }
      });
    });
  });
}

Tensor::Tensor(Tensor&& other) noexcept
    : owner_(std::move(other.owner_)),
      view_(std::exchange(other.view_, {})),
      access_(std::exchange(other.access_, Access::write)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  Tensor taken(std::move(other));
  std::swap(owner_, taken.owner_);
  std::swap(view_, taken.view_);
  std::swap(access_, taken.access_);
  return *this;
}

Tensor Tensor::borrow(const TensorView& view, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.owner_ = std::make_shared<const Loan>(std::move(owner));
  tensor.view_ = view;
  tensor.access_ = Access::read;
  return tensor;
}

Tensor Tensor::borrow_writable(const MutableTensorView& view, std::shared_ptr<const void> owner) {
  Tensor tensor = borrow(view.view(), std::move(owner));
  tensor.access_ = Access::write;
  return tensor;
}

bool Tensor::is_private() const {
  if (access_ == Access::read || owner_.use_count() > 1 || !is_contiguous()) return false;
  // The count is read relaxed, so a fence orders the reads of other threads' tensors before the writes that follow.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

void* Tensor::data() {
  if (!empty() && !is_private()) *this = Tensor(view_);
  return const_cast<void*>(view_.data());
}

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
  Tensor result = is_contiguous() ? std::move(*this) : Tensor(view_);
  result.view_ = result.view_.reshape(shape);
  return result;
}

Tensor Tensor::to(DType wanted) const { return wanted == dtype() ? contiguous() : Tensor(view_, wanted); }

Tensor Tensor::sharing(const TensorView& view) const {
  Tensor tensor = *this;
  tensor.view_ = view;
  return tensor;
}

void Tensor::require_count(std::int64_t count) const {
  if (count == size()) return;
  throw InvalidArgument("Tensor", "values", std::to_string(size()) + " of them for " + shape().to_string(),
                        std::to_string(count));
}

void Tensor::require_contiguous() const {
  if (is_contiguous()) return;
  throw InvalidArgument("Tensor::values", "this", "a contiguous tensor; contiguous() makes one",
                        shape().to_string() + " with strides " + strides().to_string());
}

}  // namespace qkv
