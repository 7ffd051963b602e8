// A weight laid out for products of any number of rows.
#pragma once

#include <memory>

#include "qkv/tensor.h"

namespace qkv::kernels {

class PackedWeight {
 public:
  /// A dense weight [N, K] for products in this dtype, f32 or bf16, which the machine has (product_dtype()); takes as
  /// long as a few products, and holds the weight's size in that dtype.
  [[nodiscard]] static std::shared_ptr<const PackedWeight> of(const TensorView& weight, DType dtype);

  PackedWeight() = default;
  PackedWeight(const PackedWeight&) = delete;
  PackedWeight& operator=(const PackedWeight&) = delete;
  virtual ~PackedWeight() = default;

  /// out [M, N], dense, of the dtype of x, = x [M, K] weight^T + bias [N], dense, of f32 or the dtype of x; null for
  /// none. Allocates x in panels; where bias is not f32, a copy of it.
  virtual void multiply(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const = 0;

  /// out [M, N], dense, f32, += x [M, K] weight^T; x is of the products' dtype. Allocates x in panels.
  virtual void add_product(const MutableTensorView& out, const TensorView& x) const = 0;
};

}  // namespace qkv::kernels
