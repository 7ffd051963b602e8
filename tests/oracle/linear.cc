#include "oracle/linear.h"

#include "oracle/elementwise.h"
#include "oracle/matmul.h"

namespace qkv::oracle {

Tensor Linear::forward(const TensorView& x) const {
  const TensorView transposed = weight.view().transpose(0, 1);
  if (!bias) return matmul(x, transposed);
  // One rounding for the sum and the bias together: the product stays in f64 until then.
  return add_row(matmul(Tensor(x, DType::f64), transposed), *bias, x.dtype());
}

Linear Linear::slice(std::int64_t begin, std::int64_t end) const {
  Linear part{.weight = Tensor(weight.view().slice(0, begin, end))};
  if (bias) part.bias = Tensor(bias->view().slice(0, begin, end));
  return part;
}

}  // namespace qkv::oracle
