// A weight laid out for products of any number of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/block_pool.h"
#include "kernels/product/onednn.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The columns of weight^T in a piece for each thread, as oneDNN likes it best for a middling number of rows. Holds the
/// weight's size in the dtype of the products.
class PackedWeight {
  struct Secret {};

 public:
  /// That of a dense weight [N, K] for products in this dtype; takes as long as a few products. Null where oneDNN has
  /// no such product.
  [[nodiscard]] static std::shared_ptr<const PackedWeight> of(const TensorView& weight, DType dtype);

  PackedWeight(Secret /*secret*/, DType dtype) : dtype_(dtype) {}

  /// out [M, N], dense, of the dtype of x, = x [M, K] weight^T + bias [N], dense, of f32 or the dtype of x; null for
  /// none. Allocates, for each thread, its piece of rows; where x is not of the products' dtype, copies of x and out.
  void multiply(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const;

  /// out [M, N], dense, f32, += x [M, K] weight^T; x is dense and of the products' dtype. Allocates a piece of rows for
  /// each thread.
  void add_product(const MutableTensorView& out, const TensorView& x) const;

 private:
  enum class Into : std::uint8_t { written, added };

  struct Piece {
    std::int64_t column;
    ProductShape shape;  // of any M
    core::PooledBlock laid;
  };

  [[nodiscard]] bool pack(const TensorView& weight);
  void run(const MutableTensorView& out, const TensorView& x, const TensorView* bias, Into into) const;
  void multiply_in_own(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const;

  DType dtype_;
  std::vector<Piece> pieces_;
};

}  // namespace qkv::kernels
