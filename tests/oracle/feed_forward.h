// Two linear maps with an activation between them, for each token alone.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/nn/activation.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/taps.h"

namespace qkv {

struct FeedForwardOptions {
  std::int64_t d_model = 0;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model where not given
  Activation activation = Activation::gelu;
  bool bias = true;
  DType dtype = DType::f32;
};

/// down(activation(up(x))) (Vaswani et al. 2017, section 3.3).
class FeedForward {
 public:
  /// up [d_ff, d_model] and then down [d_model, d_ff], each as Linear draws. Throws InvalidArgument naming d_model,
  /// d_ff or dtype.
  FeedForward(const FeedForwardOptions& options, Generator& generator);

  /// Throws InvalidArgument naming down where it does not lead from up's outputs back to its inputs.
  FeedForward(Linear up, Linear down, Activation activation = Activation::gelu);

  /// x [..., d_model] -> the same shape and dtype. Taps: hidden, activated, out. Throws InvalidArgument naming x.
  [[nodiscard]] Tensor forward(const TensorView& x, const TapScope& taps = {}) const;

  [[nodiscard]] const Linear& up() const noexcept { return up_; }
  [[nodiscard]] const Linear& down() const noexcept { return down_; }
  [[nodiscard]] Activation activation() const noexcept { return activation_; }

 private:
  Linear up_;
  Linear down_;
  Activation activation_;
};

}  // namespace qkv
