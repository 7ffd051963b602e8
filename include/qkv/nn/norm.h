// Normalisation over the last axis.
#pragma once

#include <cstdint>

#include "qkv/nn/init.h"
#include "qkv/nn/parameters.h"

namespace qkv {

enum class NormKind : std::uint8_t {
  layer,               // a gain and a shift: 2 d_model parameters
  rms,                 // a gain: d_model parameters
  rms_plus_one,        // likewise, the gain being 1 + the parameter: Gemma
  layer_without_bias,  // layer with a gain alone: MPT, Cohere
};

/// Whether it takes the mean off, as LayerNorms do and RMSNorms do not.
[[nodiscard]] constexpr bool is_centred(NormKind kind) noexcept {
  return kind == NormKind::layer || kind == NormKind::layer_without_bias;
}

/// "layer", "rms", "rms_plus_one" or "layer_without_bias".
[[nodiscard]] std::string_view name_of(NormKind kind) noexcept;

struct NormOptions {
  NormKind kind = NormKind::layer;
  std::int64_t width = 0;
  double epsilon = 1e-5;  // >= 0
  DType dtype = DType::f32;
};

/// LayerNorm, (x - mean) / sqrt(var + epsilon) * weight + bias with var the mean squared deviation (Ba et al. 2016,
/// section 3), or RMSNorm, x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich 2019, section 3). Epsilon is
/// under the root: dividing by (std + epsilon) is another function. rms_plus_one multiplies by 1 + weight, which is
/// added in f32 for weights of 16 bits (Gemma Team 2024). Parameters: weight and, for a LayerNorm, bias.
class Norm {
 public:
  /// Weight 1, or 0 for rms_plus_one, and bias 0. Throws InvalidArgument naming width, epsilon or dtype.
  Norm(const NormOptions& options, const Init& init);
  /// Weight [width]; bias likewise, or empty for an RMSNorm. Throws InvalidArgument naming weight, bias or epsilon.
  Norm(double epsilon, Variable weight, Variable bias = {});

  /// x [..., width] -> the same shape and dtype, as layer_norm() and rms_norm() of autograd/norm.h. A trace that keeps
  /// or edits "<norm>.divisor" has it, [..., 1] in f64 for f64, else f32; the norm is then computed by plain
  /// operations.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

  [[nodiscard]] NormKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::int64_t width() const { return weight_.dim(0); }
  [[nodiscard]] double epsilon() const noexcept { return epsilon_; }

 private:
  [[nodiscard]] Variable forward_by_divisor(const Variable& x) const;

  NormKind kind_;
  double epsilon_;
  Variable weight_;
  Variable bias_;  // empty for an RMSNorm
};

}  // namespace qkv
