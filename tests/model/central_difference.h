// Gradients of a model's parameters held against central differences.
#pragma once

#include <functional>
#include <string>

#include "qkv/nn/parameters.h"

namespace qkv::tests {

/// Empty, or the first place where the gradient of `loss` differs from its central difference by more than truncation
/// and rounding allow: with h = 1e-5, the first is (h / 0.02)^2 = 2.5e-7 behind embeddings of deviation 0.02 that a
/// norm makes large, the second 1e-16 / h; 1e-6 of the largest element of that parameter's gradient, or of 1. At most
/// 16 elements of each parameter, spread over it. Parameters and loss in f64; the loss must be the same each time that
/// it is computed.
[[nodiscard]] std::string gradient_fault(const Parameters& parameters, const std::function<Variable()>& loss);

}  // namespace qkv::tests
