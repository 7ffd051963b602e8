#include "qkv/nn/norm.h"

#include <cmath>
#include <string>
#include <utility>

#include "nn/require.h"
#include "qkv/autograd/norm.h"

namespace qkv {
namespace {

double checked_epsilon(double epsilon) {
  if (epsilon >= 0 && std::isfinite(epsilon)) return epsilon;
  throw InvalidArgument("Norm", "epsilon", "0 or more", std::to_string(epsilon));
}

Shape shape_of(const NormOptions& options) {
  nn::require_positive("Norm", "width", options.width);
  return {options.width};
}

}  // namespace

std::string_view name_of(NormKind kind) noexcept { return kind == NormKind::layer ? "layer" : "rms"; }

Norm::Norm(const NormOptions& options, const Init& init)
    : epsilon_(checked_epsilon(options.epsilon)), weight_(init.constant(shape_of(options), 1, options.dtype)) {
  if (options.kind == NormKind::layer) bias_ = init.constant(shape_of(options), 0, options.dtype);
}

Norm::Norm(double epsilon, Variable weight, Variable bias)
    : epsilon_(checked_epsilon(epsilon)), weight_(std::move(weight)), bias_(std::move(bias)) {
  if (weight_.rank() != 1 || weight_.dim(0) == 0) {
    throw InvalidArgument("Norm", "weight", "one axis of 1 or more", weight_.shape().to_string());
  }
  if (!bias_.empty()) nn::require_shape("Norm", "bias", weight_.shape(), bias_.shape());
}

Variable Norm::forward(const Variable& x) const {
  return bias_.empty() ? rms_norm(x, weight_, epsilon_) : layer_norm(x, weight_, bias_, epsilon_);
}

Parameters Norm::parameters() const {
  Parameters all = {{"weight", weight_}};
  if (!bias_.empty()) all.push_back({"bias", bias_});
  return all;
}

}  // namespace qkv
