// Normalisation of the last axis.
#pragma once

#include <optional>

#include "qkv/tensor.h"

namespace qkv::oracle {

/// With a bias, or `centred` without one, a LayerNorm, (x - mean) / sqrt(var + epsilon) * weight + bias; else an
/// RMSNorm, x / sqrt(mean(x^2) + epsilon) * weight.
struct Norm {
  double epsilon = 1e-5;
  Tensor weight;
  std::optional<Tensor> bias = std::nullopt;
  double gain = 0;  // added to each weight
  bool centred = false;

  /// x [..., N] -> the same shape and dtype. f64 inside, rounded once.
  [[nodiscard]] Tensor forward(const TensorView& x) const;
};

}  // namespace qkv::oracle
