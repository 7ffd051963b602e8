#include "kernels/product/dense.h"

#include "core/bytes.h"
#include "kernels/elements.h"

namespace qkv::kernels {

Dense::Dense(DType dtype, const Shape& shape)
    : block_(core::checked_bytes("product", shape, size_of(dtype))),
      view_(block_.data(), dtype, shape, contiguous_strides(shape)) {}

Dense Dense::of(const TensorView& view, DType dtype) {
  if (!view.is_contiguous() || view.dtype() != dtype) return copy_of(view, dtype);
  Dense dense;
  dense.view_ = view;
  return dense;
}

Dense Dense::copy_of(const TensorView& view, DType dtype) {
  Dense dense(dtype, view.shape());
  copy_elements(view, dense.writable());
  return dense;
}

}  // namespace qkv::kernels
