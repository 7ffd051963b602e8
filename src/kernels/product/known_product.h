// Products of rows that differ a little from others whose product is known.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/product/dense.h"
#include "kernels/product/packed_weight.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// How far rows x [n M, K] are from known rows [M, K] that stand there n times over; both dense f32.
class RowDifferences {
 public:
  /// Rounded to bf16, which it allocates.
  RowDifferences(const TensorView& x, const TensorView& known);

  /// Rows whose difference is more than a quarter of what is known, or not a number; it is too large to be rounded.
  [[nodiscard]] const std::vector<std::int64_t>& far() const noexcept { return far_; }

  /// out [n M, N], dense f32, = `known` [M, N], n times over, + the differences weight^T, but for far rows, which the
  /// caller writes. `weight` was packed in bf16. Sums are f32: the error is some 2^-9 of what the differences give, so
  /// at most 2^-11 of a known row and its weights, and 0 where nothing differs. Allocates what add_product() does.
  void multiply(const MutableTensorView& out, const TensorView& known, const PackedWeight& weight) const;

 private:
  Dense rounded_;
  std::vector<std::int64_t> far_;
  bool is_zero_ = true;
};

/// Of x [M, K], dense f32: a copy of these rows.
[[nodiscard]] Tensor rows_at(const TensorView& x, const std::vector<std::int64_t>& rows);
/// Rows of `from`, dense f32, as these of out, dense f32.
void put_rows(const TensorView& from, const std::vector<std::int64_t>& rows, const MutableTensorView& out);

}  // namespace qkv::kernels
