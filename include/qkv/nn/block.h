// A transformer block: attention and a feed-forward layer, each with its norm and its residual sum.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "qkv/nn/attention.h"
#include "qkv/nn/experts.h"
#include "qkv/nn/feed_forward.h"
#include "qkv/nn/norm.h"

namespace qkv {

/// Where the norms of a block stand.
enum class NormOrder : std::uint8_t {
  pre,           // x + f(norm(x)): GPT-2, Llama (Xiong et al. 2020)
  post,          // norm(x + f(x)): Vaswani et al. 2017, BERT
  both,          // x + norm(f(norm(x))): Gemma 2 (Gemma Team 2024, section 2)
  after,         // x + norm(f(x)): OLMo 2 (OLMo Team 2024, section 2)
  parallel,      // x + attention(norm1(x)) + feed_forward(norm2(x)): GPT-NeoX (Black et al. 2022, section 2.1)
  parallel_one,  // the same with one norm for both: GPT-J, Phi, Cohere
};
/// "pre", "post", "both", "after", "parallel" or "parallel_one".
[[nodiscard]] std::string_view name_of(NormOrder order) noexcept;
/// Whether the feed-forward layer reads what the attention reads.
[[nodiscard]] constexpr bool is_parallel(NormOrder order) noexcept {
  return order == NormOrder::parallel || order == NormOrder::parallel_one;
}
/// Whether a sublayer's result is normed before it is added.
[[nodiscard]] constexpr bool has_norms_after(NormOrder order) noexcept {
  return order == NormOrder::both || order == NormOrder::after;
}

struct BlockOptions {
  // Of the self-attention. If it has a d_context, it reads the context in place of the block's input.
  MultiHeadOptions attention = {};
  // The width of the context. If given, the block also has cross-attention, without rotary and window.
  std::optional<std::int64_t> d_context = std::nullopt;
  std::optional<std::int64_t> d_ff = std::nullopt;  // default: 4 * d_model
  Activation activation = Activation::gelu;
  FeedForwardKind feed_forward = FeedForwardKind::plain;
  double feed_forward_limit = 7;                         // of a limited one
  std::optional<bool> feed_forward_bias = std::nullopt;  // default: attention.bias
  ExpertOptions experts = {};                            // in place of one feed-forward layer, if its count is not 0
  NormOrder order = NormOrder::pre;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  std::optional<double> residual_scale = std::nullopt;  // of what each sublayer adds; default: 1
  bool first_norm = true;                               // ln1; without it the attention of `pre` reads x itself
  // A learned factor of each number of what a sublayer gives, 1 at the start: CaiT (Touvron et al. 2021, section 2).
  bool layer_scale = false;
};

/// What a block keeps for the backward pass.
enum class BlockMemory : std::uint8_t {
  keep,       // all values that it needs
  recompute,  // the block's input; the rest is computed again (autograd/checkpoint.h)
};

/// The keys and values of earlier tokens, for one block.
struct BlockCache {
  KvCache tokens;                                     // of the self-attention
  std::optional<KvCache> context = std::nullopt;      // of the cross-attention, filled by read_context()
  std::optional<std::int64_t> window = std::nullopt;  // of the layer, out of which tokens are forgotten: see forgets
};

struct BlockCall {
  AttentionOptions attention = {};                     // of the self-attention
  LearnedTerms learned = {};                           // likewise; a stack passes the same to each block
  Variable relative = {};                              // likewise: the table of distances of MultiHeadCall
  AttentionOptions cross_attention = {};               // of the cross-attention
  std::optional<TensorView> positions = std::nullopt;  // rotary positions of x
  // Of the result of each sublayer, before its residual sum; a stack gives each block its own seeds. Dropout of
  // attention weights is an option of `attention`; in a stack its seed grows by 2 per block.
  std::optional<Dropout> dropout = std::nullopt;
  BlockMemory memory = BlockMemory::keep;  // recompute does not work with a trace
  const Trace* trace = nullptr;
};

/// Parameters: ln1.*, attn.*, then ln_cross.* and cross.* if it has cross-attention, ln2.*, ffn.*. With norms behind
/// the sublayers (both, after): attn_norm.*, cross_norm.*, ffn_norm.*. With `after` there is no ln1, ln_cross or ln2,
/// with `parallel_one` no ln2. With layer_scale attn_scale.weight and ffn_scale.weight. A trace sees these parts,
/// resid_pre (the input), resid_mid (after the self-attention), resid_cross, and resid_post (the output).
class TransformerBlock {
 public:
  /// Draws attention, cross-attention and feed-forward in this order; norms start with weight 1 and bias 0. Throws
  /// InvalidArgument naming the option.
  TransformerBlock(const BlockOptions& options, const Init& init, DType dtype = DType::f32);

  /// x [B, T, d_model] -> the same shape and dtype. Throws InvalidArgument naming x, an option, or context if the block
  /// reads one.
  [[nodiscard]] Variable forward(const Variable& x, const BlockCall& call = {}) const;
  /// The same with context [B, Tk, d_context]. Throws InvalidArgument naming context if the block reads none.
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context, const BlockCall& call = {}) const;
  /// x holds the tokens after those of the cache, whose keys and values are appended.
  [[nodiscard]] Variable forward_cached(const Variable& x, BlockCache& cache, const BlockCall& call = {}) const;
  /// An empty cache of B sequences of up to `capacity` tokens; with a context [B, Tk, d_context], its keys and values.
  /// Of a layer with a window it forgets, and grows by itself.
  [[nodiscard]] BlockCache make_cache(std::int64_t B, std::int64_t capacity, DType dtype,
                                      const Variable& context = {}) const;

  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const MultiHeadAttention& attention() const noexcept { return attention_; }
  [[nodiscard]] std::int64_t d_model() const noexcept { return attention_.options().d_model; }
  /// True if either attention reads a context.
  [[nodiscard]] bool reads_context() const noexcept {
    return cross_.has_value() || attention_.options().d_context.has_value();
  }

 private:
  struct Inputs;
  // A sublayer's norms and the names of its parts.
  struct Place {
    const char* norm_name;
    const std::optional<Norm>& norm;
    const char* name;
    const char* after_name;
    const std::optional<Norm>& after;  // behind the sublayer; none where the order has no such norm
    const char* scale_name;
    const Variable& factor;  // of the sublayer's result; empty without
    const char* sum_name;
  };

  [[nodiscard]] Variable run(const Inputs& inputs, const BlockCall& call) const;
  [[nodiscard]] Variable compute(const Inputs& inputs, const BlockCall& call) const;
  template <class Sublayer>
  [[nodiscard]] Variable with_residual(const Variable& x, const Variable& read, const Place& place,
                                       const Sublayer& sublayer) const;

  NormOrder order_;
  MultiHeadAttention attention_;
  std::optional<MultiHeadAttention> cross_;
  std::variant<FeedForward, Experts> feed_forward_;
  std::optional<double> residual_scale_;
  std::optional<Norm> ln1_;
  std::optional<Norm> ln_cross_;
  std::optional<Norm> ln2_;
  std::optional<Norm> attention_norm_;  // where norms stand behind the sublayers
  std::optional<Norm> cross_norm_;
  std::optional<Norm> feed_forward_norm_;
  Variable attention_scale_;  // [d_model]; empty without layer_scale
  Variable feed_forward_scale_;
};

}  // namespace qkv
