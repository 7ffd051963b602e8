#include "qkv/nn/linear.h"

#include <cmath>
#include <utility>

#include "nn/elementwise.h"
#include "nn/require.h"
#include "qkv/nn/matmul.h"

namespace qkv {
namespace {

// As torch.nn.init.uniform_: u * (high - low) + low in f32 (f64 for f64 weights), so that the numbers agree with it.
Tensor uniform(const Shape& shape, double bound, DType dtype, Generator& generator) {
  if (dtype == DType::f64) {
    Tensor drawn = generator.rand(shape, DType::f64);
    for (double& value : drawn.values<double>()) value = value * (2 * bound) - bound;
    return drawn;
  }
  Tensor drawn = generator.rand(shape, DType::f32);
  const auto low = static_cast<float>(-bound);
  const auto high = static_cast<float>(bound);
  for (float& value : drawn.values<float>()) value = value * (high - low) + low;
  return dtype == DType::f32 ? std::move(drawn) : drawn.to(dtype);
}

}  // namespace

Linear::Linear(const LinearOptions& options, Generator& generator) {
  nn::require_positive("Linear", "in", options.in);
  nn::require_positive("Linear", "out", options.out);
  nn::require_floating("Linear", "dtype", options.dtype);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in));
  weight_ = uniform({options.out, options.in}, bound, options.dtype, generator);
  if (options.bias) bias_ = uniform({options.out}, bound, options.dtype, generator);
}

Linear::Linear(Tensor weight, std::optional<Tensor> bias) : weight_(std::move(weight)), bias_(std::move(bias)) {
  nn::require_table("Linear", "weight", weight_);
  if (!bias_) return;
  nn::require_floating("Linear", "bias", bias_->dtype());
  nn::require_shape("Linear", "bias", {out()}, bias_->shape());
}

Tensor Linear::forward(const TensorView& x) const {
  nn::require_floating("Linear", "x", x.dtype());
  nn::require_width("Linear", "x", in(), x.shape());
  const TensorView transposed = weight_.view().transpose(0, 1);
  if (!bias_) return matmul(x, transposed);
  // One rounding for the sum and the bias together: the product stays in f64 until then.
  return nn::add_row(matmul(Tensor(x, DType::f64), transposed), *bias_, x.dtype());
}

Linear Linear::slice(std::int64_t begin, std::int64_t end) const {
  std::optional<Tensor> bias;
  if (bias_) bias = Tensor(bias_->view().slice(0, begin, end));
  return Linear(Tensor(weight_.view().slice(0, begin, end)), std::move(bias));
}

}  // namespace qkv
