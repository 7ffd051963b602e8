// Multi-head attention: project, attend in every head, join, project (Vaswani et al. 2017, section 3.2.2).
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/attention.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/position.h"
#include "qkv/nn/taps.h"

namespace qkv {

struct MultiHeadOptions {
  std::int64_t d_model = 0;
  std::int64_t heads = 1;                               // Hq
  std::optional<std::int64_t> kv_heads = std::nullopt;  // Hk, a divisor of heads; heads where not given
  std::optional<std::int64_t> d_k = std::nullopt;       // D of each head; d_model / heads where not given
  std::optional<std::int64_t> d_v = std::nullopt;       // Dv of each head; d_k where not given
  // The width of what keys and values are made from, for cross-attention; d_model where not given.
  std::optional<std::int64_t> d_context = std::nullopt;
  bool bias = true;                                    // of the four maps
  std::optional<RotaryOptions> rotary = std::nullopt;  // turns q and k of every head; dim at most d_k
};

/// q [Hq * D, d_model], k [Hk * D, d_context], v [Hk * Dv, d_context], out [d_model, Hq * Dv]; head h owns the rows
/// from h * D on.
struct MultiHeadWeights {
  Linear q;
  Linear k;
  Linear v;
  Linear out;
};

/// The two ways to walk the heads. They agree to rounding.
enum class HeadOrder : std::uint8_t {
  packed,      // one product for all heads, then a reshape to [B, H, T, D]
  one_by_one,  // each head with its own slice of the weights, as the formula is written; allocates T x T for a head
};

struct MultiHeadForward {
  AttentionOptions attention = {};  // scale, softcap, bias, mask and dropout count query heads 0 … Hq-1
  // Rotary positions, i64 [T] or [B, T]; 0 … T-1 where not given. `context_positions` are the keys' in cross-attention.
  std::optional<TensorView> positions = std::nullopt;
  std::optional<TensorView> context_positions = std::nullopt;
  HeadOrder order = HeadOrder::packed;
  TapScope taps = {};  // docs/taps.md, under "attn"
};

class MultiHeadAttention {
 public:
  /// q, k, v and out in this order, each as Linear draws. Throws InvalidArgument naming the option at fault.
  MultiHeadAttention(const MultiHeadOptions& options, Generator& generator, DType dtype = DType::f32);

  /// Throws InvalidArgument naming the option, or the weight whose shape does not follow from the options.
  MultiHeadAttention(const MultiHeadOptions& options, MultiHeadWeights weights);

  /// Self-attention: x [T, d_model] or [B, T, d_model] -> the same shape and dtype. Intermediates are rounded to the
  /// dtype of x after each projection, after the rotation and after attention. Throws InvalidArgument naming x,
  /// positions or an attention option. Allocates the projections and what attention() does.
  [[nodiscard]] Tensor forward(const TensorView& x, const MultiHeadForward& call = {}) const;

  /// Cross-attention: queries from x [B, Tq, d_model], keys and values from context [B, Tk, d_context], or both without
  /// B. Throws as forward() does, naming context or context_positions too.
  [[nodiscard]] Tensor forward_cross(const TensorView& x, const TensorView& context,
                                     const MultiHeadForward& call = {}) const;

  [[nodiscard]] const MultiHeadOptions& options() const noexcept { return options_; }
  [[nodiscard]] const MultiHeadWeights& weights() const noexcept { return weights_; }
  [[nodiscard]] std::int64_t heads() const noexcept { return options_.heads; }
  [[nodiscard]] std::int64_t kv_heads() const noexcept { return options_.kv_heads.value_or(options_.heads); }
  [[nodiscard]] std::int64_t d_k() const noexcept { return options_.d_k.value_or(options_.d_model / options_.heads); }
  [[nodiscard]] std::int64_t d_v() const noexcept { return options_.d_v.value_or(d_k()); }
  [[nodiscard]] std::int64_t d_context() const noexcept { return options_.d_context.value_or(options_.d_model); }

 private:
  struct Inputs;

  [[nodiscard]] Tensor run(const Inputs& inputs, const MultiHeadForward& call) const;
  [[nodiscard]] Tensor packed_heads(const Inputs& inputs, const MultiHeadForward& call) const;
  [[nodiscard]] Tensor heads_one_by_one(const Inputs& inputs, const MultiHeadForward& call) const;

  MultiHeadOptions options_;
  MultiHeadWeights weights_;
};

}  // namespace qkv
