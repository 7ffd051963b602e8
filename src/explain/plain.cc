#include "explain/plain.h"

#include "qkv/autograd/matmul.h"
#include "qkv/nn/norm.h"

namespace qkv::explain_detail {
namespace {

Variable constant(const TensorView& values) { return Variable(Tensor(values, DType::f64)); }

Variable filled(std::int64_t width, double value) {
  return Variable(Tensor(std::vector<double>(static_cast<std::size_t>(width), value), {width}));
}

}  // namespace

Tensor matmul(const TensorView& a, const TensorView& b) {
  return {qkv::matmul(constant(a), constant(b)).value(), a.dtype()};
}

Tensor layer_norm(const TensorView& x, double epsilon) {
  const Norm norm(epsilon, filled(x.dim(-1), 1), filled(x.dim(-1), 0));
  return Tensor(norm.forward(constant(x)).value());
}

}  // namespace qkv::explain_detail
