#include "qkv/nn/norm.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/plain_number.h"
#include "nn/require.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/reduce.h"

namespace qkv {
namespace {

double checked_epsilon(double epsilon) {
  if (epsilon >= 0 && std::isfinite(epsilon)) return epsilon;
  throw InvalidArgument("Norm", "epsilon", "0 or more", core::plain_number(epsilon));
}

Shape shape_of(const NormOptions& options) {
  nn::require_positive("Norm", "width", options.width);
  return {options.width};
}

// A weight of 16 bits and 1 have no sum of 16 bits that keeps what the weight says.
Variable plus_one(const Variable& weight) {
  const DType dtype = weight.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return cast(weight, dtype) + Variable(Tensor(std::vector<double>{1}, {1}).to(dtype));
}

}  // namespace

std::string_view name_of(NormKind kind) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"layer", "rms", "rms_plus_one", "layer_without_bias"};
  return kNames[static_cast<std::size_t>(kind)];
}

Norm::Norm(const NormOptions& options, const Init& init)
    : kind_(options.kind),
      epsilon_(checked_epsilon(options.epsilon)),
      weight_(init.constant(shape_of(options), options.kind == NormKind::rms_plus_one ? 0 : 1, options.dtype)) {
  if (options.kind == NormKind::layer) bias_ = init.constant(shape_of(options), 0, options.dtype);
}

Norm::Norm(double epsilon, Variable weight, Variable bias)
    : kind_(bias.empty() ? NormKind::rms : NormKind::layer),
      epsilon_(checked_epsilon(epsilon)),
      weight_(std::move(weight)),
      bias_(std::move(bias)) {
  if (weight_.rank() != 1 || weight_.dim(0) == 0) {
    throw InvalidArgument("Norm", "weight", "one axis of 1 or more", weight_.shape().to_string());
  }
  if (!bias_.empty()) nn::require_shape("Norm", "bias", weight_.shape(), bias_.shape());
}

// The norm step by step, for a trace that looks at its divisor or holds it.
Variable Norm::forward_by_divisor(const Variable& x) const {
  const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Variable wide = cast(x, dtype);
  const Variable centred = is_centred(kind_) ? wide - mean(wide, {-1}, ReducedAxes::keep) : wide;
  const Variable squares = mean(centred * centred, {-1}, ReducedAxes::keep);
  const Variable divisor =
      nn::traced("divisor", sqrt(squares + Variable(Tensor(std::vector{epsilon_}, {1}).to(dtype))));
  const Variable weight = cast(kind_ == NormKind::rms_plus_one ? plus_one(weight_) : weight_, dtype);
  const Variable scaled = centred / divisor * weight;
  return cast(bias_.empty() ? scaled : scaled + cast(bias_, dtype), x.dtype());
}

Variable Norm::forward(const Variable& x) const {
  if (nn::is_named("divisor")) return forward_by_divisor(x);
  if (kind_ == NormKind::layer) return layer_norm(x, weight_, bias_, epsilon_);
  if (kind_ == NormKind::layer_without_bias) return layer_norm(x, weight_, epsilon_);
  return rms_norm(x, kind_ == NormKind::rms ? weight_ : plus_one(weight_), epsilon_);
}

Parameters Norm::parameters() const {
  Parameters all = {{"weight", weight_}};
  if (!bias_.empty()) all.push_back({"bias", bias_});
  return all;
}

}  // namespace qkv
