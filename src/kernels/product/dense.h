// Dense operands: as they lie, or copied into memory of the pool.
#pragma once

#include "core/block_pool.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

class Dense {
 public:
  /// No elements.
  Dense() = default;
  /// Its own, not initialised.
  Dense(DType dtype, const Shape& shape);
  /// Those of the view, where it is dense and has the dtype, else a copy.
  [[nodiscard]] static Dense of(const TensorView& view, DType dtype);
  [[nodiscard]] static Dense copy_of(const TensorView& view, DType dtype);

  [[nodiscard]] const TensorView& view() const noexcept { return view_; }
  /// Its own elements.
  [[nodiscard]] MutableTensorView writable() const {
    return {block_.data(), view_.dtype(), view_.shape(), view_.strides()};
  }
  /// Whether the elements are its own.
  [[nodiscard]] bool owns() const noexcept { return block_.data() != nullptr; }

 private:
  core::PooledBlock block_;
  TensorView view_;
};

}  // namespace qkv::kernels
