#include "oracle/activation.h"

#include <cmath>
#include <numbers>

#include "oracle/elementwise.h"

namespace qkv::oracle {
namespace {

// erfc(-z) is 1 + erf(z) without its cancellation for negative z.
double gelu(double x) noexcept { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double gelu_tanh(double x) noexcept {
  constexpr double kRootTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
}

double sigmoid(double x) noexcept { return 1 / (1 + std::exp(-x)); }

}  // namespace

double activate(Activation activation, double x) noexcept {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::quick_gelu:
      return x * sigmoid(1.702 * x);
    case Activation::relu:
      return x < 0 ? 0.0 : x;
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::leaky_relu:
      return x < 0 ? 0.01 * x : x;
    case Activation::relu2:
      return x < 0 ? 0.0 : x * x;
    case Activation::linear:
      return x;
  }
  __builtin_unreachable();
}

Tensor activate(Activation activation, const TensorView& x) {
  return map(x, [activation](double element) { return activate(activation, element); });
}

}  // namespace qkv::oracle
