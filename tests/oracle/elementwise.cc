#include "oracle/elementwise.h"

#include "nn/require.h"

namespace qkv::oracle {

Tensor add(const TensorView& a, const TensorView& b) {
  nn::require_shape("oracle::add", "b", a.shape(), b.shape());
  const std::vector<double> terms = b.to_vector();
  auto term = terms.begin();
  return map(a, [&](double element) { return element + *term++; });
}

Tensor multiply(const TensorView& a, const TensorView& b) {
  nn::require_shape("oracle::multiply", "b", a.shape(), b.shape());
  const std::vector<double> factors = b.to_vector();
  auto factor = factors.begin();
  return map(a, [&](double element) { return element * *factor++; });
}

Tensor add_row(const TensorView& x, const TensorView& row, DType dtype) {
  nn::require_width("oracle::add_row", "row", x.dim(-1), row.shape());
  const std::vector<double> terms = row.to_vector();
  std::vector<double> sums = x.to_vector();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += terms[i % terms.size()];
  return Tensor(sums, x.shape()).to(dtype);
}

}  // namespace qkv::oracle
