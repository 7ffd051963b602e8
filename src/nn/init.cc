#include "qkv/nn/init.h"

#include <utility>

#include "autograd/node.h"
#include "nn/require.h"

namespace qkv {
namespace {

DType drawn_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

Variable parameter_of(Tensor drawn, DType dtype) {
  return Variable::parameter(drawn.dtype() == dtype ? std::move(drawn) : drawn.to(dtype));
}

template <class Function>
void for_values(Tensor& drawn, const Function& function) {
  if (drawn.dtype() == DType::f64) {
    for (double& value : drawn.values<double>()) value = function(value);
  } else {
    for (float& value : drawn.values<float>()) value = function(value);
  }
}

// A single zero, broadcast to the whole shape.
Variable without_values(const Shape& shape, DType dtype) {
  const Tensor zero(dtype, {1});
  autograd::Value value = autograd::value_of(zero);
  value.view = value.view.broadcast_to(shape);
  return autograd::parameter(std::move(value));
}

}  // namespace

Variable Init::uniform(const Shape& shape, double bound, DType dtype) const {
  nn::require_floating("Init::uniform", "dtype", dtype);
  if (generator_ == nullptr) return without_values(shape, dtype);
  Tensor drawn = generator_->rand(shape, drawn_dtype(dtype));
  for_values(drawn, [bound](auto value) {
    using Real = decltype(value);
    const auto low = static_cast<Real>(-bound);
    const auto high = static_cast<Real>(bound);
    return value * (high - low) + low;
  });
  return parameter_of(std::move(drawn), dtype);
}

Variable Init::normal(const Shape& shape, double deviation, DType dtype) const {
  nn::require_floating("Init::normal", "dtype", dtype);
  if (generator_ == nullptr) return without_values(shape, dtype);
  Tensor drawn = generator_->randn(shape, drawn_dtype(dtype));
  for_values(drawn, [deviation](auto value) { return value * static_cast<decltype(value)>(deviation); });
  return parameter_of(std::move(drawn), dtype);
}

Variable Init::constant(const Shape& shape, double value, DType dtype) const {
  nn::require_floating("Init::constant", "dtype", dtype);
  if (generator_ == nullptr) return without_values(shape, dtype);
  Tensor filled(drawn_dtype(dtype), shape);
  if (value != 0) for_values(filled, [value](auto element) { return static_cast<decltype(element)>(value); });
  return parameter_of(std::move(filled), dtype);
}

}  // namespace qkv
