// Functions of one element, between the two maps of a feed-forward layer.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/tensor.h"

namespace qkv {

enum class Activation : std::uint8_t {
  gelu,       // x * Phi(x) = x / 2 * (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016, section 2)
  gelu_tanh,  // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), their approximation of it
  relu,       // max(x, 0); NaN stays NaN
};

/// "gelu", "gelu_tanh" or "relu".
[[nodiscard]] std::string_view name_of(Activation activation) noexcept;

[[nodiscard]] double activate(Activation activation, double x) noexcept;

/// Element by element, same shape and dtype, computed in f64. Throws InvalidArgument naming x where it is not floating.
[[nodiscard]] Tensor activate(Activation activation, const TensorView& x);

}  // namespace qkv
