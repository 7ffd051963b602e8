// A model like GPT: tokens in, scores for the token after each out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/generate.h"
#include "qkv/model/layer_choices.h"
#include "qkv/model/token_input.h"

namespace qkv {

struct DecoderOptions {
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Positions positions = Positions::rotary;
  bool tied = true;    // the output map is the embedding's table
  bool scores = true;  // false: no output map, so that the model gives states alone
  NormOrder order = NormOrder::pre;
  // Where not given: root_width before post-norm blocks, else small.
  std::optional<EmbeddingScale> embedding = std::nullopt;
  Activation activation = Activation::gelu;
  bool bias = true;  // of the maps of attention
  // The width of a context: with it, each block has cross-attention to one, of the same heads.
  std::optional<std::int64_t> d_context = std::nullopt;
  std::optional<double> embedding_factor = std::nullopt;  // of the embeddings: Granite
  bool output_bias = false;                               // of the scores: Phi, BART
  std::optional<double> output_scale = std::nullopt;      // of the states that the output map reads: d_model^-0.5 in T5
  std::optional<double> logit_softcap = std::nullopt;     // c: scores s become c tanh(s / c) (Gemma 2)
  LayerChoices choices = {};
};

/// options.embedding, or what stands for it.
[[nodiscard]] EmbeddingScale embedding_scale(const DecoderOptions& options) noexcept;

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const DecoderOptions& options);
[[nodiscard]] DecoderOptions decoder_options(const std::map<std::string, std::string>& config);

/// Parameters of such a decoder, by arithmetic; the number of heads changes it for T5's table alone.
[[nodiscard]] std::int64_t parameter_count(const DecoderOptions& options);

/// What cross-attention reads: the hidden states of an encoder.
struct DecoderContext {
  Variable hidden;                         // [B, Tk, d_context]
  std::vector<std::int64_t> lengths = {};  // [B]: places of each that are there, 0 to Tk; empty if none is padded
};

/// What a decoder keeps between the tokens of a text.
struct DecoderCache {
  StackCache blocks;
  std::vector<std::int64_t> context_lengths = {};  // of the cross-attention's keys, as DecoderContext has them
  std::int64_t length = 0;                         // tokens that were read
  DType dtype = DType::f32;

  /// Row n goes on from rows[n] of this one. Copies keys and values.
  [[nodiscard]] DecoderCache fork(std::span<const std::int64_t> rows) const;
  /// Makes room for `tokens` tokens of each text, and no more than `most`: at least twice what there was. Copies.
  /// Layers with a window make their own.
  void make_room(std::int64_t tokens, std::int64_t most);
  /// Forgets the tokens from `tokens` on, or all of them where a layer has forgotten what its window shows the next
  /// one. Returns how many are left.
  std::int64_t truncate(std::int64_t tokens);
};

/// A text that a decoder reads and writes in several calls: what it has read is not computed again.
struct KeptText {
  std::optional<DecoderCache> cache = std::nullopt;
  std::vector<std::int64_t> tokens = {};  // that the cache holds
  std::int64_t computed = 0;              // tokens that were computed, in all calls
};

/// Weights of every head, one tensor a layer.
struct DecoderWeights {
  std::vector<Tensor> tokens;  // [B, heads, T, T]
  std::vector<Tensor> cross;   // [B, heads, T, Tk]; none without a context
};

/// Token and position embedding, blocks, and an output map. With pre-norm blocks, the embeddings are small by default
/// and a last norm stands before the map (Radford et al. 2019); with post-norm ones, they are scaled as
/// EmbeddingScale::root_width says (Vaswani et al. 2017).
class Decoder {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option, such as a
  /// d_model that heads do not divide.
  Decoder(const DecoderOptions& options, const Init& init, DType dtype = DType::f32);
  /// With the table of tokens of another model: both learn it. Throws InvalidArgument naming vocabulary if it has
  /// another shape.
  Decoder(const DecoderOptions& options, const Embedding& tokens, const Init& init);

  /// ids [B, T] of i64 or i32 -> scores [B, T, vocabulary] in call.dtype. Throws InvalidArgument naming ids, context if
  /// the decoder needs one, or scores if it has no output map.
  [[nodiscard]] Variable forward(const TensorView& ids, const ModelCall& call = {}) const;
  /// [B, T] -> [B, T, d_model] in call.dtype: what the last block gives, after the last norm of pre-norm ones; all
  /// places, whatever call.scores says. Throws InvalidArgument as forward(), but for the output map.
  [[nodiscard]] Variable hidden(const TensorView& ids, const ModelCall& call = {}) const;
  /// The same over a context in call.dtype. Throws InvalidArgument naming context if the decoder reads none or
  /// another shape, and its lengths.
  [[nodiscard]] Variable forward_cross(const TensorView& ids, const DecoderContext& context,
                                       const ModelCall& call = {}) const;
  /// The scores that a stream [B, T, d_model] would give as the last block's output: what the model does behind it. A
  /// trace sees ln_final and logits.
  [[nodiscard]] Variable read_out(const Variable& stream, const ModelCall& call = {}) const;

  /// Empty caches of B texts of up to `capacity` tokens, in `dtype`, a floating one or i8, by default that of
  /// ModelCall; over a context, with its keys and values, by default in its dtype.
  [[nodiscard]] DecoderCache make_cache(std::int64_t B, std::int64_t capacity,
                                        std::optional<DType> dtype = std::nullopt) const;
  [[nodiscard]] DecoderCache make_cache(const DecoderContext& context, std::int64_t capacity,
                                        std::optional<DType> dtype = std::nullopt) const;
  /// What generate() keeps keys and values in: options.cache_dtype, or what it computes in.
  [[nodiscard]] DType cache_dtype(const GenerateOptions& options) const;
  /// Bytes of the keys and values of so many tokens in a dtype, with the scales of i8; of layers with a window, at
  /// most.
  [[nodiscard]] std::int64_t cache_bytes(std::int64_t tokens, DType dtype) const;
  /// ids [B, T], the tokens after those of the cache, which takes them in -> scores of call.scores. Nothing is
  /// recorded.
  [[nodiscard]] Variable forward_cached(const TensorView& ids, DecoderCache& cache, const ModelCall& call = {}) const;
  /// What generate() writes after prompt [B, T], over a cache in options.cache_dtype: a token costs one token's work,
  /// and equal prompts are read once. A text that is longer than options.window is read anew for each token, from the
  /// first of its last `window` tokens; one that grows beyond what LongRoPE calls short is read anew once. Throws
  /// InvalidArgument naming scores if there is a token to write and no output map.
  [[nodiscard]] NewTokens generate(const TensorView& prompt, const GenerateOptions& options) const;
  /// The same after one text [1, T], of which `kept` may hold a beginning: only the tokens behind that are computed,
  /// the last one always. `kept` then holds the text and what was written, but for the last token. Throws
  /// InvalidArgument as above, and naming beams, of which there is one; prompt, of which there is one row; most, if the
  /// text would be longer than options.window.
  [[nodiscard]] NewTokens write_on(const TensorView& prompt, KeptText& kept, const GenerateOptions& options) const;
  /// The same over a context, in its dtype.
  [[nodiscard]] NewTokens generate_cross(const TensorView& prompt, const DecoderContext& context,
                                         const GenerateOptions& options) const;

  /// In the default dtype of ModelCall. Allocates them all. weights() are those of the tokens.
  [[nodiscard]] std::vector<Tensor> weights(const TensorView& ids) const;
  [[nodiscard]] DecoderWeights weights_cross(const TensorView& ids, const DecoderContext& context) const;

  /// embedding.weight, positions.weight, t5.weight, blocks.*, ln_final, output.weight, output.bias, as far as there are
  /// any.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const DecoderOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] bool is_turned_anew(std::int64_t before, std::int64_t tokens) const noexcept;
  Decoder(const DecoderOptions& options, TokenInput input, const Init& init);
  [[nodiscard]] Variable states(const TensorView& ids, const DecoderContext* context, const ModelCall& call) const;
  [[nodiscard]] Variable run(const TensorView& ids, const DecoderContext* context, const ModelCall& call) const;
  void require_scores() const;
  [[nodiscard]] BlockCall block_call(const ModelCall& call) const;
  [[nodiscard]] Variable logits_of(const Variable& x, const ModelCall& call) const;
  void require_context(const TensorView& ids, const DecoderContext* context) const;

  DecoderOptions options_;
  TokenInput input_;
  TransformerStack stack_;
  std::optional<Linear> output_;
  Variable bias_;  // of the scores, where the map is the table; else empty
};

}  // namespace qkv
