// Transformer blocks and stacks that learn: those of qkv/nn/transformer.h with gradients and dropout.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/layers/layers.h"
#include "qkv/nn/transformer.h"

namespace qkv::learn {

/// What a walk back finds of a block.
enum class BlockMemory : std::uint8_t {
  keep,       // all that it needs
  recompute,  // the block's input; the rest is computed again (checkpoint.h)
};

struct BlockCall {
  AttentionOptions attention = {};  // of the self-attention
  LearnedTerms learned = {};        // likewise; a stack gives the same to each of its blocks
  AttentionOptions cross_attention = {};
  std::optional<TensorView> positions = std::nullopt;  // rotary positions of x
  // Of the result of each sublayer, before its sum; a stack gives each block seeds of its own. Dropout of attention's
  // weights is an option of the attention, whose seed grows in a stack as in qkv::TransformerStack.
  std::optional<Dropout> dropout = std::nullopt;
  BlockMemory memory = BlockMemory::keep;
};

/// qkv::TransformerBlock: ln1, attention, then ln_cross and cross where it has cross-attention, ln2, feed_forward.
class TransformerBlock {
 public:
  explicit TransformerBlock(const qkv::TransformerBlock& block);
  TransformerBlock(const BlockOptions& options, Generator& generator, DType dtype = DType::f32)
      : TransformerBlock(qkv::TransformerBlock(options, generator, dtype)) {}

  /// x [B, T, d_model] -> the same. Throws InvalidArgument naming context where the block has cross-attention.
  [[nodiscard]] Variable forward(const Variable& x, const BlockCall& call = {}) const;
  /// Throws InvalidArgument naming context where it has none.
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context, const BlockCall& call = {}) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::TransformerBlock frozen() const;

 private:
  [[nodiscard]] Variable run(const Variable& x, const Variable* context, const BlockCall& call) const;
  [[nodiscard]] Variable compute(const Variable& x, const Variable* context, const BlockCall& call) const;

  NormOrder order_;
  Norm ln1_;
  MultiHeadAttention attention_;
  std::optional<Norm> ln_cross_;
  std::optional<MultiHeadAttention> cross_;
  Norm ln2_;
  FeedForward feed_forward_;
};

/// qkv::TransformerStack: blocks.0, blocks.1, …, and ln_final where the blocks are pre-norm.
class TransformerStack {
 public:
  explicit TransformerStack(const qkv::TransformerStack& stack);
  TransformerStack(const StackOptions& options, Generator& generator, DType dtype = DType::f32)
      : TransformerStack(qkv::TransformerStack(options, generator, dtype)) {}

  [[nodiscard]] Variable forward(const Variable& x, const BlockCall& call = {}) const;
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context, const BlockCall& call = {}) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] qkv::TransformerStack frozen() const;
  [[nodiscard]] const std::vector<TransformerBlock>& blocks() const noexcept { return blocks_; }

 private:
  [[nodiscard]] Variable run(const Variable& x, const Variable* context, const BlockCall& call) const;

  StackKind kind_;
  std::vector<TransformerBlock> blocks_;
  std::optional<Norm> last_;
};

}  // namespace qkv::learn
