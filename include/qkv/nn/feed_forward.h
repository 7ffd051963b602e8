// Feed-forward layers: linear maps with an activation between them, applied to each token.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/nn/activation.h"
#include "qkv/nn/linear.h"

namespace qkv {

enum class FeedForwardKind : std::uint8_t {
  plain,  // down(activation(up(x))) (Vaswani et al. 2017, section 3.3)
  gated,  // down(activation(gate(x)) * up(x)): SwiGLU with silu, GeGLU with gelu (Shazeer 2020)
  // down(activation(min(gate(x), limit)) * (1 + up(x))), up(x) cut to -limit … limit: gpt-oss (OpenAI 2025)
  limited,
};
/// Whether it has a gate.
[[nodiscard]] constexpr bool is_gated(FeedForwardKind kind) noexcept { return kind != FeedForwardKind::plain; }

/// "plain", "gated" or "limited".
[[nodiscard]] std::string_view name_of(FeedForwardKind kind) noexcept;

struct FeedForwardOptions {
  std::int64_t d_model = 0;
  std::optional<std::int64_t> d_ff = std::nullopt;  // default: 4 * d_model
  Activation activation = Activation::gelu;
  FeedForwardKind kind = FeedForwardKind::plain;
  double limit = 7;  // of limited ones
  bool bias = true;
  DType dtype = DType::f32;
};

/// Parameters: gate.* if it is gated, up.*, down.*. A trace sees gate, up, activated (what down reads) and down.
class FeedForward {
 public:
  /// gate [d_ff, d_model] if it is gated, up [d_ff, d_model] and then down [d_model, d_ff], each as Linear draws.
  /// Throws InvalidArgument naming d_model, d_ff, limit or dtype.
  FeedForward(const FeedForwardOptions& options, const Init& init);

  /// x [..., d_model] -> the same shape and dtype. Throws InvalidArgument naming x.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

 private:
  [[nodiscard]] Variable gated(const Variable& gate, const Variable& up) const;

  Activation activation_;
  std::optional<double> limit_;
  std::optional<Linear> gate_;
  Linear up_;
  Linear down_;
};

}  // namespace qkv
