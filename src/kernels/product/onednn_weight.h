// A weight as oneDNN lays it out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/block_pool.h"
#include "kernels/product/onednn.h"
#include "kernels/product/packed_weight.h"
#include "kernels/product/panel_product.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// The columns of weight^T in a piece for each thread, as oneDNN likes it best for a middling number of rows.
class OneDnnWeight final : public PackedWeight {
  struct Secret {};

 public:
  /// Null where oneDNN has no such product.
  [[nodiscard]] static std::shared_ptr<const PackedWeight> of(const TensorView& weight, DType dtype);

  OneDnnWeight(Secret /*secret*/, DType dtype) : dtype_(dtype) {}

  /// Allocates, for each thread, its piece of rows; where x is not of the products' dtype, copies of x and out.
  void multiply(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const override;
  void add_product(const MutableTensorView& out, const TensorView& x) const override;

 private:
  struct Piece {
    std::int64_t column;
    ProductShape shape;  // of any M
    core::PooledBlock laid;
  };

  [[nodiscard]] bool pack(const TensorView& weight);
  void run(const MutableTensorView& out, const TensorView& x, const TensorView* bias, Into into) const;

  DType dtype_;
  std::vector<Piece> pieces_;
};

}  // namespace qkv::kernels
