// The Transformer of Vaswani et al. 2017: an encoder reads the source, a decoder says the target and attends to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/model/encoder.h"
#include "qkv/model/generate.h"

namespace qkv {

struct EncoderDecoderOptions {
  std::int64_t source_vocabulary = 0;
  std::int64_t vocabulary = 0;
  std::int64_t source_length = 0;  // tokens of the longest source in training; only `learned` ends there
  std::int64_t length = 0;         // likewise of the target
  std::int64_t encoder_layers = 2;
  std::int64_t layers = 2;  // of the decoder
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Positions positions = Positions::sinusoidal;      // of both self-attentions; cross-attention has none
  NormOrder order = NormOrder::post;
  Activation activation = Activation::relu;
  bool bias = true;     // of the maps of attention
  bool shared = false;  // one table for source and target, whose vocabularies are one
  bool tied = true;     // the output map is the table of the target
  // Of both, where not given: root_width before post-norm blocks, else small; and a factor before that.
  std::optional<EmbeddingScale> embedding = std::nullopt;
  std::optional<double> embedding_factor = std::nullopt;
  bool output_bias = false;                           // of the scores: BART
  std::optional<double> output_scale = std::nullopt;  // of DecoderOptions
  std::optional<std::int64_t> start = std::nullopt;   // the token with which a target begins where none is given
  LayerChoices choices = {};                          // of both; cross-attention without positions and windows
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const EncoderDecoderOptions& options);
[[nodiscard]] EncoderDecoderOptions encoder_decoder_options(const std::map<std::string, std::string>& config);

/// Parameters of such a model, by arithmetic; the number of heads changes it for T5's tables alone.
[[nodiscard]] std::int64_t parameter_count(const EncoderDecoderOptions& options);

/// Weights of every head, one tensor a layer.
struct EncoderDecoderWeights {
  std::vector<Tensor> source;  // [B, heads, S, S], of the encoder
  std::vector<Tensor> tokens;  // [B, heads, T, T], of the decoder
  std::vector<Tensor> cross;   // [B, heads, T, S]
};

/// An Encoder without its output map, and a Decoder over what it gives. Of post-norm, the embeddings of both are scaled
/// as EmbeddingScale::root_width says, as in the paper; with 37,000 shared words, six layers, d_model 512 and no biases
/// in attention it has the parameters of `qkv cost transformer-base`.
class EncoderDecoder {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option, such as
  /// vocabularies that differ though the table is shared.
  EncoderDecoder(const EncoderDecoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// Source [B, S] and target [B, T] -> scores [B, T, vocabulary] of the token after each of the target, in call.dtype.
  /// Padding of the target stands at its end, where no earlier token sees it. Throws InvalidArgument naming ids or
  /// lengths, from Encoder or Decoder.
  [[nodiscard]] Variable forward(const PaddedTokens& source, const TensorView& target,
                                 const ModelCall& call = {}) const;

  /// What generate() writes after prompt [B, T], over a cache; without a prompt (an empty view), after options().start.
  /// Reads the source once. Throws InvalidArgument naming prompt, too, if there is neither.
  [[nodiscard]] NewTokens generate(const PaddedTokens& source, const TensorView& prompt,
                                   const GenerateOptions& options) const;

  /// In the default dtype of ModelCall. Allocates them all.
  [[nodiscard]] EncoderDecoderWeights weights(const PaddedTokens& source, const TensorView& target) const;

  /// Those of the encoder under "encoder", then those of the decoder under "decoder"; a shared table is
  /// encoder.embedding.weight alone.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const EncoderDecoderOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Encoder& encoder() const noexcept { return encoder_; }
  [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }

 private:
  EncoderDecoderOptions options_;
  Encoder encoder_;
  Decoder decoder_;
};

}  // namespace qkv
