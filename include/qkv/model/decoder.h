// A model like GPT: tokens in, scores for the token after each out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/layers/transformer.h"

namespace qkv::learn {

/// How a model knows where a token stands.
enum class Positions : std::uint8_t {
  none,        // by causality alone
  sinusoidal,  // fixed vectors, added to the embeddings
  learned,     // a vector for each position, likewise; texts end where the table does
  rotary,      // q and k of each head are turned
  alibi,       // a fixed bias that falls with the distance
  t5,          // a learned bias a bucket of distances and head, the same in each layer
};
/// "none", "sinusoidal", …
[[nodiscard]] std::string_view name_of(Positions positions) noexcept;
/// Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] Positions positions_named(std::string_view name);

struct DecoderOptions {
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model where not given
  Positions positions = Positions::rotary;
  bool tied = true;  // the output map is the embedding's table
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> facts_of(const DecoderOptions& options);
[[nodiscard]] DecoderOptions decoder_options(const std::map<std::string, std::string>& facts);

/// How many numbers such a decoder learns, by arithmetic; the number of heads changes it for T5's table alone.
[[nodiscard]] std::int64_t parameter_count(const DecoderOptions& options);

struct DecoderCall {
  DType dtype = DType::f32;                       // that it computes in: f32 or bf16
  std::optional<Dropout> dropout = std::nullopt;  // of the embeddings and of each sublayer's result
  BlockMemory memory = BlockMemory::keep;
};

/// Token and position embedding, pre-norm blocks (Radford et al. 2019), a last norm, an output map.
class Decoder {
 public:
  /// Draws in the order of parameters(); f32. Throws InvalidArgument naming the option, such as a d_model that heads do
  /// not divide.
  Decoder(const DecoderOptions& options, Generator& generator);

  /// ids [B, T] of i64 or i32 -> scores [B, T, vocabulary] in call.dtype. Throws InvalidArgument naming ids.
  [[nodiscard]] Variable forward(const TensorView& ids, const DecoderCall& call = {}) const;

  /// Weights of every head, f64 [B, heads, T, T] a layer, computed by the layers that explain. Allocates them all.
  [[nodiscard]] std::vector<Tensor> weights(const TensorView& ids) const;

  /// embedding.weight, positions.weight, t5.weight, blocks.*, ln_final, output.weight, as far as they are there.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const DecoderOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] Variable embedded(const TensorView& ids, const DecoderCall& call) const;

  DecoderOptions options_;
  Embedding embedding_;
  std::optional<Embedding> positions_;
  Variable t5_;  // [buckets, heads]; empty without
  TransformerStack stack_;
  std::optional<Linear> output_;
};

}  // namespace qkv::learn
