// A model like BERT: tokens in, a vector for each out that has read all of them, and scores for what is masked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/layer_choices.h"
#include "qkv/model/token_input.h"

namespace qkv {

/// What makes scores of tokens from the last states.
enum class EncoderHead : std::uint8_t {
  product,    // the product with the table of tokens, or with a map of its own
  transform,  // a linear map, the activation and a norm before it, and a bias after it: BERT, RoBERTa
  none,       // the model gives states alone
};
/// "product", "transform", "none"
[[nodiscard]] std::string_view name_of(EncoderHead head) noexcept;

struct EncoderOptions {
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Positions positions = Positions::rotary;
  bool tied = true;  // the output map is the embedding's table
  NormOrder order = NormOrder::pre;
  // Where not given: normed before post-norm blocks, else small.
  std::optional<EmbeddingScale> embedding = std::nullopt;
  std::optional<double> embedding_factor = std::nullopt;  // of the embeddings: mBART
  Activation activation = Activation::gelu;
  bool bias = true;        // of the maps of attention
  std::int64_t types = 0;  // token types, with a vector each: 2 for pairs of texts (BERT); 0: none
  EncoderHead head = EncoderHead::product;
  std::optional<Activation> head_activation = std::nullopt;  // of the head `transform`; by default that of the blocks
  bool head_map_bias = true;                                 // of its linear map
  bool head_bias = true;                                     // of its scores
  // The width of the tables and of what the head `transform` scores; a linear map leads from it to d_model. Default:
  // d_model, without a map. ELECTRA, ALBERT.
  std::optional<std::int64_t> d_embedding = std::nullopt;
  RelativeScores relative = {};                        // of the distances of tokens, by a table for all layers: DeBERTa
  bool relative_norm = false;                          // a norm over that table
  SelfAttention self_attention = SelfAttention::full;  // causal: the text tower of CLIP
  // A token that takes no place, as padding within a text of RoBERTa: learned positions then have a row for it, the
  // first one of length + 1.
  std::optional<std::int64_t> placeless = std::nullopt;
  LayerChoices choices = {};
};

/// options.embedding, or what stands for it.
[[nodiscard]] EmbeddingScale embedding_scale(const EncoderOptions& options) noexcept;

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const EncoderOptions& options);
[[nodiscard]] EncoderOptions encoder_options(const std::map<std::string, std::string>& config);

/// Parameters of such an encoder, by arithmetic; the number of heads changes it for T5's table alone.
[[nodiscard]] std::int64_t parameter_count(const EncoderOptions& options);

/// Token and position embedding, blocks in which each token sees every other that is no padding, and an output map. Of
/// post-norm with learned positions, token types and the head `transform` it is BERT (Devlin et al. 2019) without
/// pooler.
class Encoder {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option, such as a
  /// d_model that heads do not divide.
  Encoder(const EncoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// [B, T] -> [B, T, d_model] in call.dtype: what the last block gives, after the last norm of pre-norm ones. Places
  /// of padding hold values without meaning. Throws InvalidArgument naming ids or lengths.
  [[nodiscard]] Variable hidden(const PaddedTokens& tokens, const ModelCall& call = {}) const;
  /// The same of texts end to end, [1, T] -> [1, T, d_model]: a token sees its own text alone.
  [[nodiscard]] Variable hidden_joined(const JoinedTokens& tokens, const ModelCall& call = {}) const;
  /// [B, T] -> scores [B, T, vocabulary] of what stands at each place. Throws InvalidArgument naming head if there is
  /// none.
  [[nodiscard]] Variable forward(const PaddedTokens& tokens, const ModelCall& call = {}) const;
  /// The scores that a stream [B, T, d_model] would give as the last block's output. Throws as forward().
  [[nodiscard]] Variable read_out(const Variable& stream, const ModelCall& call = {}) const;

  /// Weights of every head, [B, heads, T, T] a layer, in the default dtype of ModelCall. Allocates them all.
  [[nodiscard]] std::vector<Tensor> weights(const PaddedTokens& tokens) const;

  /// embedding.weight, positions.weight, types.weight, ln_embedding, embedding_map, t5.weight, blocks.*, ln_final,
  /// relative.weight, ln_relative, output.weight, head.dense.*, head.ln.*, head.bias, as far as they are there.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const EncoderOptions& options() const noexcept { return options_; }
  /// The table of tokens, for a decoder that shares it.
  [[nodiscard]] const Embedding& tokens() const noexcept { return input_.tokens(); }

 private:
  [[nodiscard]] BlockCall block_call(const ModelCall& call) const;
  [[nodiscard]] Variable one_by_one(const JoinedTokens& tokens, const ModelCall& call) const;
  [[nodiscard]] Variable transformed(const Variable& x) const;
  [[nodiscard]] Variable logits_of(const Variable& x, const ModelCall& call) const;
  void require_scores() const;
  [[nodiscard]] Mask mask_of(const PaddedTokens& tokens) const;

  EncoderOptions options_;
  TokenInput input_;
  TransformerStack stack_;
  std::optional<Embedding> relative_;
  std::optional<Norm> relative_norm_;
  std::optional<Linear> output_;
  std::optional<Linear> head_map_;
  std::optional<Norm> head_norm_;
  Variable head_bias_;  // [vocabulary]; empty without
};

}  // namespace qkv
