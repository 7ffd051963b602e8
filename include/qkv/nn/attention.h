// Multi-head attention: project, attend in every head, join, project (Vaswani et al. 2017, section 3.2.2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "qkv/autograd/attention.h"
#include "qkv/kv_cache.h"
#include "qkv/nn/latent.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"
#include "qkv/nn/relative_scores.h"
#include "qkv/nn/trace.h"

namespace qkv {

namespace nn {
class SharedRotary;
}

struct MultiHeadOptions {
  std::int64_t d_model = 0;
  std::int64_t heads = 1;                               // Hq
  std::optional<std::int64_t> kv_heads = std::nullopt;  // Hk, a divisor of heads; default: heads
  std::optional<std::int64_t> d_k = std::nullopt;       // D of each head; default: d_model / heads
  std::optional<std::int64_t> d_v = std::nullopt;       // Dv of each head; default: d_k
  // The width of the context, for cross-attention; default: d_model.
  std::optional<std::int64_t> d_context = std::nullopt;
  bool bias = true;                                    // of the projections to q, k and v
  bool key_bias = true;                                // whether that to k has one, if they have: Whisper's has none
  std::optional<bool> out_bias = std::nullopt;         // of the output projection; default: bias
  std::optional<RotaryOptions> rotary = std::nullopt;  // rotates q and k of every head; dim at most d_k
  std::optional<double> qk_norm = std::nullopt;        // an RMSNorm of each head's q and k with this epsilon: Qwen 3
  NormKind qk_norm_kind = NormKind::rms;               // or rms_plus_one: Gemma 3
  bool qk_norm_of_all = false;                         // over the heads of a token together: OLMo 2
  std::optional<double> scale = std::nullopt;          // default: 1 / sqrt(D); 1 for T5
  std::optional<double> softcap = std::nullopt;        // Gemma 2
  std::optional<std::int64_t> window = std::nullopt;   // keys that a query sees, with its own: Mistral
  bool sinks = false;                                  // a learned score of each head that no key has: gpt-oss
  RelativeScores relative = {};                        // of distances, added to the scores: DeBERTa
  LatentOptions latent = {};  // k and v come from a narrow vector of each token, and rotary turns the last numbers of a
                              // head instead of the first: DeepSeek. As many key heads as heads; `bias` is of the maps
                              // to the narrow vectors.
};

/// Options of one call. A scale or softcap in `attention` replaces that of the layer; a mask is combined with the
/// layer's window.
struct MultiHeadCall {
  AttentionOptions attention = {};                     // counts query heads 0 … Hq-1
  LearnedTerms learned = {};                           // biases and sinks that get gradients
  std::optional<TensorView> positions = std::nullopt;  // rotary: i64 [T] or [B, T]; default: 0 … T-1, or from the
                                                       // length of the cache on
  Variable relative = {};    // the table of distances of `relative`, [2 * span, d_model]; not with a cache
  KvCache* cache = nullptr;  // of this layer: appends keys and values of x, attends to all of it
  // With a cache and a window: the cache grows as it must, and forgets what no later token sees, but for some tokens
  // more. Not where the call has a trace.
  bool forgets = false;
  const Trace* trace = nullptr;
};

/// Parameters: q.*, k.*, v.*, q_norm.weight and k_norm.weight if it has qk_norm, relative_k.* and relative_q.* as far
/// as distances have maps of their own, out.*, and sinks [Hq], which start at 0 and are those of calls that have none.
/// Those of LatentQueries, q.* and those of LatentKeys in place of the first three where there are such. Head h owns
/// the rows from h * D on. A trace sees q, k, v as projected and normed, [B, H, T, D]; q_rotated and
/// k_rotated; scores of distances as `relative`, [B, H, T, T]; heads [B, Hq, Tq, Dv], concat [B, Tq, Hq * Dv], out; and
/// the attention itself under the name of the layer.
class MultiHeadAttention {
 public:
  /// q, k, v and out in this order, each as Linear draws; narrow vectors before what is made of them. Throws
  /// InvalidArgument naming the option at fault.
  MultiHeadAttention(const MultiHeadOptions& options, const Init& init, DType dtype = DType::f32);

  /// Self-attention: x [B, T, d_model] -> the same shape and dtype. With a cache, nothing may be recorded. Throws
  /// InvalidArgument naming x, positions, cache or an attention option.
  [[nodiscard]] Variable forward(const Variable& x, const MultiHeadCall& call = {}) const;
  /// Cross-attention: keys and values from context [B, Tk, d_context]; without rotary. Throws as forward() does.
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context,
                                       const MultiHeadCall& call = {}) const;
  /// Cross-attention over a context that read_context() has put into call.cache.
  [[nodiscard]] Variable forward_remembered(const Variable& x, const MultiHeadCall& call) const;
  /// Appends the keys and values of context [B, Tk, d_context].
  void read_context(const Variable& context, KvCache& cache) const;

  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const MultiHeadOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::int64_t heads() const noexcept { return options_.heads; }
  [[nodiscard]] std::int64_t kv_heads() const noexcept { return options_.kv_heads.value_or(options_.heads); }
  [[nodiscard]] std::int64_t d_k() const noexcept { return options_.d_k.value_or(options_.d_model / options_.heads); }
  [[nodiscard]] std::int64_t d_v() const noexcept { return options_.d_v.value_or(d_k()); }
  [[nodiscard]] std::int64_t d_context() const noexcept { return options_.d_context.value_or(options_.d_model); }
  /// Of `tokens` tokens in a row, how many a cache of this layer holds at most once a call that forgets has ended.
  [[nodiscard]] std::int64_t held_tokens(std::int64_t tokens) const;
  /// The format of a cache for this layer.
  [[nodiscard]] KvFormat cache_format(DType dtype) const;

 private:
  enum class Side : std::uint8_t { queries, keys };

  [[nodiscard]] Variable normed(Side side, const Variable& packed) const;
  [[nodiscard]] Variable turned(Side side, const Variable& heads_of, const std::optional<RotaryTables>& tables) const;
  [[nodiscard]] Variable queries_of(const Variable& x, const std::optional<RotaryTables>& tables) const;
  [[nodiscard]] LatentKeys::KeysAndValues keys_and_values(const Variable& context,
                                                          const std::optional<RotaryTables>& tables) const;
  [[nodiscard]] Variable attend(const Variable& x, const Variable& context, const MultiHeadCall& call,
                                const std::optional<RotaryTables>& tables) const;
  [[nodiscard]] LearnedTerms learned_terms(const Variable& q, const Variable& k, const MultiHeadCall& call) const;
  [[nodiscard]] Variable attend_over_cache(const Variable& q, const MultiHeadCall& call) const;
  [[nodiscard]] Variable joined(const Variable& heads) const;
  [[nodiscard]] AttentionOptions own_options(const AttentionOptions& call) const;
  [[nodiscard]] LearnedTerms own_terms(const MultiHeadCall& call) const;
  void require_one_turn(const KvCache& cache, std::int64_t T) const;
  [[nodiscard]] std::optional<RotaryTables> tables_of(const Variable& x, const MultiHeadCall& call) const;

  MultiHeadOptions options_;
  std::shared_ptr<nn::SharedRotary> rotary_;  // null without rotary
  std::optional<LatentQueries> q_latent_;
  Linear q_;
  std::optional<Linear> k_;  // or latent_
  std::optional<Linear> v_;
  std::optional<LatentKeys> latent_;
  std::optional<Norm> q_norm_;
  std::optional<Norm> k_norm_;
  std::optional<Linear> relative_k_;
  std::optional<Linear> relative_q_;
  Linear out_;
  Variable sinks_;  // empty without
};

}  // namespace qkv
