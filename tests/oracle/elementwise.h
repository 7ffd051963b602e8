// Arithmetic between tensors of one shape, computed in f64 and rounded once.
#pragma once

#include "core/element.h"
#include "qkv/tensor.h"

namespace qkv::oracle {

/// a + b, and a * b, of one shape -> the dtype of `a`. Throw InvalidArgument naming the shapes.
[[nodiscard]] Tensor add(const TensorView& a, const TensorView& b);
[[nodiscard]] Tensor multiply(const TensorView& a, const TensorView& b);

/// x [..., N] plus `row` [N] for each leading index -> `dtype`.
[[nodiscard]] Tensor add_row(const TensorView& x, const TensorView& row, DType dtype);

/// function(double) of every element -> the dtype of `x`.
template <class Function>
[[nodiscard]] Tensor map(const TensorView& x, const Function& function) {
  Tensor out(x);
  core::with_type(out.dtype(), [&]<class T>(T) {
    for (T& element : out.values<T>()) element = core::from_double<T>(function(core::to_double(element)));
  });
  return out;
}

}  // namespace qkv::oracle
