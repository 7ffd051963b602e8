// Batches of matrices.
#pragma once

#include "qkv/tensor.h"

namespace qkv::kernels {

/// The leading axes of [..., M, N].
[[nodiscard]] inline Shape batch_of(const TensorView& x) {
  Shape batch;
  for (int axis = 0; axis + 2 < x.rank(); ++axis) batch.push_back(x.dim(axis));
  return batch;
}

/// [..., M, N] with these leading axes.
[[nodiscard]] inline TensorView over_batch(const TensorView& x, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(x.dim(-2));
  shape.push_back(x.dim(-1));
  return x.broadcast_to(shape);
}

}  // namespace qkv::kernels
