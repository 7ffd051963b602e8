#include "oracle/matmul.h"

#include <vector>

#include "nn/require.h"

namespace qkv::oracle {

Tensor matmul(const TensorView& a, const TensorView& b) {
  nn::require_table("oracle::matmul", "b", b.shape(), b.dtype());
  nn::require_width("oracle::matmul", "a", b.dim(0), a.shape());
  const auto K = static_cast<std::size_t>(b.dim(0));
  const auto N = static_cast<std::size_t>(b.dim(1));
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  std::vector<double> sums;
  for (std::size_t row = 0; row < left.size(); row += K) {
    for (std::size_t n = 0; n < N; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum += left[row + k] * right[k * N + n];
      sums.push_back(sum);
    }
  }
  Shape shape = a.shape();
  shape[shape.rank() - 1] = b.dim(1);
  return Tensor(sums, shape).to(a.dtype());
}

}  // namespace qkv::oracle
