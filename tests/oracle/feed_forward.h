// Linear maps with an activation between them, for each token alone.
#pragma once

#include <optional>

#include "oracle/linear.h"
#include "qkv/nn/activation.h"

namespace qkv::oracle {

/// down(activation(up(x))), or with a gate down(activation(gate(x)) * up(x)).
struct FeedForward {
  std::optional<Linear> gate;
  Linear up;
  Linear down;
  Activation activation = Activation::gelu;

  /// x [..., d_model] -> the same shape and dtype.
  [[nodiscard]] Tensor forward(const TensorView& x) const;
};

}  // namespace qkv::oracle
