// Transformer blocks and stacks of them: encoder, decoder, encoder-decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "qkv/nn/feed_forward.h"
#include "qkv/nn/multi_head_attention.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/taps.h"
#include "qkv/norm_kind.h"

namespace qkv {

/// Where the norm of a sublayer stands.
enum class NormOrder : std::uint8_t {
  pre,   // x + f(norm(x)): GPT-2, Llama (Xiong et al. 2020)
  post,  // norm(x + f(x)): Vaswani et al. 2017, BERT
};
/// "pre" or "post".
[[nodiscard]] std::string_view name_of(NormOrder order) noexcept;

struct BlockOptions {
  MultiHeadOptions attention = {};  // of the self-attention; no d_context
  // The width of the context: with it the block has cross-attention too, of the same heads, without rotary.
  std::optional<std::int64_t> d_context = std::nullopt;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model where not given
  Activation activation = Activation::gelu;
  std::optional<bool> feed_forward_bias = std::nullopt;  // attention.bias where not given
  NormOrder order = NormOrder::pre;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
};

/// What a block is made of. `ln_cross` and `cross`: both or neither.
struct BlockParts {
  Norm ln1;
  MultiHeadAttention attention;
  std::optional<Norm> ln_cross = std::nullopt;
  std::optional<MultiHeadAttention> cross = std::nullopt;
  Norm ln2;
  FeedForward feed_forward;
};

struct BlockForward {
  AttentionOptions attention = {};                     // of the self-attention
  AttentionOptions cross_attention = {};               // of the cross-attention
  std::optional<TensorView> positions = std::nullopt;  // rotary positions of x, as MultiHeadForward has them
  HeadOrder order = HeadOrder::packed;
  TapScope taps = {};  // docs/taps.md
};

/// Self-attention, cross-attention if it has one, and a feed-forward layer, each with its norm and its residual sum.
class TransformerBlock {
 public:
  /// Draws attention, cross-attention and feed-forward in this order; norms start with weight 1 and, for layer norms,
  /// bias 0. Throws InvalidArgument naming the option.
  TransformerBlock(const BlockOptions& options, Generator& generator, DType dtype = DType::f32);

  /// Throws InvalidArgument naming the part whose width does not fit.
  TransformerBlock(NormOrder order, BlockParts parts);

  /// x [T, d_model] or [B, T, d_model] -> the same shape and dtype; every intermediate has that dtype. Throws
  /// InvalidArgument naming x, context (a block with cross-attention needs one) or an option.
  [[nodiscard]] Tensor forward(const TensorView& x, const BlockForward& call = {}) const;
  /// The same with context [Tk, d_context] or [B, Tk, d_context] for the cross-attention.
  [[nodiscard]] Tensor forward_cross(const TensorView& x, const TensorView& context,
                                     const BlockForward& call = {}) const;

  [[nodiscard]] const BlockParts& parts() const noexcept { return parts_; }
  [[nodiscard]] NormOrder order() const noexcept { return order_; }
  [[nodiscard]] bool has_cross_attention() const noexcept { return parts_.cross.has_value(); }
  [[nodiscard]] std::int64_t d_model() const noexcept { return parts_.attention.options().d_model; }

 private:
  [[nodiscard]] Tensor run(const TensorView& x, const std::optional<TensorView>& context,
                           const BlockForward& call) const;

  NormOrder order_;
  BlockParts parts_;
};

enum class StackKind : std::uint8_t {
  encoder,  // every token sees every other, unless the call's mask says otherwise
  decoder,  // causal() is added to the call's mask of the self-attention
};

struct StackOptions {
  StackKind kind = StackKind::encoder;
  std::int64_t layers = 1;
  BlockOptions block = {};
};

/// Blocks one after another, and a last norm where the blocks are pre-norm. Dropout's seed grows by 2 a block (and by 1
/// for the cross-attention), so that no two layers drop the same places.
class TransformerStack {
 public:
  /// Draws the blocks in order. Throws InvalidArgument naming layers or the block's option.
  TransformerStack(const StackOptions& options, Generator& generator, DType dtype = DType::f32);

  /// Throws InvalidArgument naming blocks where there are none or their widths differ.
  TransformerStack(StackKind kind, std::vector<TransformerBlock> blocks, std::optional<Norm> last = std::nullopt);

  /// As the block's calls.
  [[nodiscard]] Tensor forward(const TensorView& x, const BlockForward& call = {}) const;
  [[nodiscard]] Tensor forward_cross(const TensorView& x, const TensorView& context,
                                     const BlockForward& call = {}) const;

  [[nodiscard]] StackKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::vector<TransformerBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const std::optional<Norm>& last() const noexcept { return last_; }

 private:
  [[nodiscard]] Tensor run(const TensorView& x, const std::optional<TensorView>& context,
                           const BlockForward& call) const;

  StackKind kind_;
  std::vector<TransformerBlock> blocks_;
  std::optional<Norm> last_;
};

struct EncoderDecoderForward {
  AttentionOptions encoder = {};  // self-attention over the source, e.g. key_lengths for its padding
  AttentionOptions decoder = {};  // self-attention over the target; causal() is added
  AttentionOptions cross = {};    // from the target to the source
  HeadOrder order = HeadOrder::packed;
  TapScope taps = {};
};

/// A decoder whose cross-attention reads what an encoder made of the source (Vaswani et al. 2017, figure 1).
class EncoderDecoder {
 public:
  /// Throws InvalidArgument naming encoder or decoder where a stack is of the other kind, lacks cross-attention, or
  /// reads another width than the encoder writes.
  EncoderDecoder(TransformerStack encoder, TransformerStack decoder);

  /// source [S, d_source] and target [T, d_model], both with or without B -> the shape and dtype of the target.
  [[nodiscard]] Tensor forward(const TensorView& source, const TensorView& target,
                               const EncoderDecoderForward& call = {}) const;

  [[nodiscard]] const TransformerStack& encoder() const noexcept { return encoder_; }
  [[nodiscard]] const TransformerStack& decoder() const noexcept { return decoder_; }

 private:
  TransformerStack encoder_;
  TransformerStack decoder_;
};

}  // namespace qkv
