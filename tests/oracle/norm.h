// Normalisation over the trailing axes.
#pragma once

#include <optional>
#include <variant>

#include "qkv/tensor.h"

namespace qkv {

/// Per row: the mean, and 1 / sqrt(var + epsilon). Extents of the normalised axes are 1; f64 where x is, else f32.
struct NormStatistics {
  Tensor mean;
  Tensor inv_std;
};

struct LayerNormOptions {
  Shape normalized;                             // the trailing axes of x, at least one
  double epsilon = 1e-5;                        // >= 0
  std::optional<Tensor> weight = std::nullopt;  // shape `normalized`; ones where not given
  std::optional<Tensor> bias = std::nullopt;    // shape `normalized`; zeros where not given
};

/// (x - mean) / sqrt(var + epsilon) * weight + bias, where var is the mean of the squared deviations (Ba et al. 2016,
/// section 3). Epsilon stands under the root: dividing by (std + epsilon) is another function.
class LayerNorm {
 public:
  /// Throws InvalidArgument naming normalized, epsilon, weight or bias.
  explicit LayerNorm(LayerNormOptions options);

  /// x [..., normalized] -> the same shape and dtype. f64 inside, rounded once. Throws InvalidArgument naming x.
  [[nodiscard]] Tensor forward(const TensorView& x) const;
  [[nodiscard]] NormStatistics statistics(const TensorView& x) const;

  [[nodiscard]] const LayerNormOptions& options() const noexcept { return options_; }

 private:
  LayerNormOptions options_;
};

struct RMSNormOptions {
  Shape normalized;
  double epsilon = 1e-6;
  std::optional<Tensor> weight = std::nullopt;
};

/// x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich 2019, section 3, with epsilon under the root).
class RMSNorm {
 public:
  /// Throws InvalidArgument naming normalized, epsilon or weight.
  explicit RMSNorm(RMSNormOptions options);

  /// x [..., normalized] -> the same shape and dtype. f64 inside, rounded once. Throws InvalidArgument naming x.
  [[nodiscard]] Tensor forward(const TensorView& x) const;

  [[nodiscard]] const RMSNormOptions& options() const noexcept { return options_; }

 private:
  RMSNormOptions options_;
};

/// Either norm, where a layer may have the one or the other.
using Norm = std::variant<LayerNorm, RMSNorm>;

/// The norm's forward().
[[nodiscard]] Tensor normalize(const Norm& norm, const TensorView& x);
/// The norm's axes.
[[nodiscard]] const Shape& normalized_of(const Norm& norm) noexcept;

}  // namespace qkv
