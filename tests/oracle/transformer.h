// Transformer blocks and stacks of them.
#pragma once

#include <optional>
#include <vector>

#include "oracle/feed_forward.h"
#include "oracle/multi_head_attention.h"
#include "oracle/norm.h"
#include "qkv/nn/stack.h"

namespace qkv::oracle {

struct Call {
  AttentionOptions attention = {};
  AttentionOptions cross_attention = {};
  std::optional<TensorView> positions = std::nullopt;
};

/// Self-attention, cross-attention if it has one, and a feed-forward layer, each with its norm and its residual sum.
struct TransformerBlock {
  NormOrder order = NormOrder::pre;
  std::optional<Norm> ln1 = std::nullopt;  // of all orders but after, as ln_cross and, but for parallel_one, ln2
  MultiHeadAttention attention;
  std::optional<Norm> ln_cross = std::nullopt;
  std::optional<MultiHeadAttention> cross = std::nullopt;
  std::optional<Norm> ln2 = std::nullopt;
  FeedForward feed_forward;
  std::optional<double> residual_scale = std::nullopt;
  std::optional<Norm> attention_norm = std::nullopt;  // of both and after, as the next two
  std::optional<Norm> cross_norm = std::nullopt;
  std::optional<Norm> feed_forward_norm = std::nullopt;

  /// x [B, T, d_model] -> the same shape and dtype; `context` [B, Tk, d_context] for the cross-attention.
  [[nodiscard]] Tensor forward(const TensorView& x, const std::optional<TensorView>& context, const Call& call) const;
};

/// Blocks one after another, and a last norm unless they are post-norm. Dropout's seed grows by 2 a block, and by 1 for
/// the cross-attention.
struct TransformerStack {
  StackKind kind = StackKind::encoder;
  std::vector<TransformerBlock> blocks;
  std::optional<Norm> last = std::nullopt;

  [[nodiscard]] Tensor forward(const TensorView& x, const std::optional<TensorView>& context = std::nullopt,
                               const Call& call = {}) const;
};

}  // namespace qkv::oracle
