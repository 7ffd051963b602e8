// Multi-head attention, each head by itself with its own slice of the weights.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/linear.h"
#include "oracle/norm.h"
#include "qkv/nn/attention.h"

namespace qkv::oracle {

/// The options are those of the library's layer. q [Hq * D, d_model], k [Hk * D, d_context], v [Hk * Dv, d_context],
/// out [d_model, Hq * Dv]; head h owns the rows from h * D on.
struct MultiHeadAttention {
  MultiHeadOptions options;
  Linear q;
  Linear k;
  Linear v;
  std::optional<Norm> q_norm = std::nullopt;
  std::optional<Norm> k_norm = std::nullopt;
  Linear out;

  /// x [B, T, d_model] -> the same shape and dtype. `positions` as MultiHeadCall has them.
  [[nodiscard]] Tensor forward(const TensorView& x, const AttentionOptions& attention = {},
                               const std::optional<TensorView>& positions = std::nullopt) const;
  /// Keys and values from context [B, Tk, d_context]; without rotary.
  [[nodiscard]] Tensor forward_cross(const TensorView& x, const TensorView& context,
                                     const AttentionOptions& attention = {}) const;

 private:
  [[nodiscard]] Tensor run(const TensorView& x, const TensorView& context, const AttentionOptions& attention,
                           const std::optional<RotaryTables>& tables) const;
  [[nodiscard]] Tensor head(const Linear& map, const std::optional<Norm>& norm, const TensorView& x, std::int64_t h,
                            const std::optional<RotaryTables>& tables) const;
};

}  // namespace qkv::oracle
