// Activation functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/autograd/variable.h"

namespace qkv {

enum class Activation : std::uint8_t {
  gelu,        // x * Phi(x) = x / 2 * (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016, section 2)
  gelu_tanh,   // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), their approximation
  quick_gelu,  // x * sigmoid(1.702 x), their other approximation: CLIP
  relu,        // max(x, 0); NaN stays NaN
  silu,        // x * sigmoid(x): Llama
  tanh,        //
  sigmoid,     // 1 / (1 + exp(-x))
  leaky_relu,  // x above 0, 0.01 x below
  relu2,       // relu(x)^2: Primer (So et al. 2021)
  linear,      // x
};

/// "gelu", "gelu_tanh", …
[[nodiscard]] std::string_view name_of(Activation activation) noexcept;
/// Throws InvalidArgument listing the names if there is no such one.
[[nodiscard]] Activation activation_named(std::string_view name);

/// Element by element, as the functions of autograd/arithmetic.h.
[[nodiscard]] Variable activate(Activation activation, const Variable& x);

}  // namespace qkv
