#include "qkv/nn/activation.h"

#include <cmath>
#include <numbers>

#include "nn/elementwise.h"
#include "nn/require.h"

namespace qkv {
namespace {

// erfc(-z) is 1 + erf(z) without its cancellation for negative z.
double gelu(double x) noexcept { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double gelu_tanh(double x) noexcept {
  constexpr double kRootTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
}

}  // namespace

std::string_view name_of(Activation activation) noexcept {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::relu:
      return "relu";
  }
  __builtin_unreachable();
}

double activate(Activation activation, double x) noexcept {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::relu:
      return x < 0 ? 0.0 : x;
  }
  __builtin_unreachable();
}

Tensor activate(Activation activation, const TensorView& x) {
  nn::require_floating("activate", "x", x.dtype());
  return nn::map(x, [activation](double element) { return activate(activation, element); });
}

}  // namespace qkv
