// How tokens come into a model: a vector for each, and where it stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "qkv/nn/embedding.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/stack.h"

namespace qkv {

/// How a model knows where a token stands.
enum class Positions : std::uint8_t {
  none,        // by causality alone
  sinusoidal,  // fixed vectors, added to the embeddings
  learned,     // a vector for each position, likewise; texts end where the table does
  rotary,      // q and k of each head are turned
  alibi,       // a fixed bias that falls with the distance, the same on both sides
  t5,          // a learned bias a bucket of distances and head, the same in each layer
};
/// "none", "sinusoidal", …
[[nodiscard]] std::string_view name_of(Positions positions) noexcept;
/// Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] Positions positions_named(std::string_view name);

/// How large the sum of token and position is where the first block reads it.
enum class EmbeddingScale : std::uint8_t {
  small,  // standard deviation 0.02 (GPT-2)
  // Drawn with deviation 1 / sqrt(d_model), and times sqrt(d_model), in the dtype of the table, on the way in (Vaswani
  // et al. 2017).
  root_width,
  normed,  // 0.02, and a layer norm over the sum (BERT)
};
/// "small", "root_width", "normed"
[[nodiscard]] std::string_view name_of(EmbeddingScale scale) noexcept;

/// Which scores a model of text is asked for.
enum class Scores : std::uint8_t {
  all,   // [B, T, vocabulary]
  last,  // [B, 1, vocabulary], of the last token alone
};

/// How a model is run.
struct ModelCall {
  std::optional<DType> dtype = std::nullopt;      // that it computes in; f64 for parameters of f64, else f32
  std::optional<Dropout> dropout = std::nullopt;  // of the embeddings and of each sublayer's result
  BlockMemory memory = BlockMemory::keep;
  Scores scores = Scores::all;
  Trace* trace = nullptr;  // sees the pass by the names of docs/trace.md

  /// In what a model with such parameters computes.
  [[nodiscard]] DType dtype_for(DType parameters) const noexcept {
    return dtype.value_or(parameters == DType::f64 ? DType::f64 : DType::f32);
  }
};

/// Texts side by side, the shorter ones padded at their end with any token.
struct PaddedTokens {
  TensorView ids;                          // [B, T] of i64 or i32
  std::vector<std::int64_t> lengths = {};  // [B]: tokens of each text, 0 to T; empty if none is padded
  TensorView types = {};                   // likewise [B, T], of a model with types; none: all 0
};

/// Texts end to end, so that no place is padded.
struct JoinedTokens {
  TensorView ids;                     // [1, T] of i64 or i32
  std::vector<std::int64_t> lengths;  // tokens of each text, more than 0; T together
  TensorView types = {};              // likewise [1, T], of a model with types; none: all 0
};

/// Which keys a query of the self-attention sees.
enum class SelfAttention : std::uint8_t {
  causal,  // itself and those before it
  full,
};
/// "causal", "full"
[[nodiscard]] std::string_view name_of(SelfAttention self_attention) noexcept;

struct TokenInputOptions {
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // rows of the table of learned positions
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  Positions positions = Positions::none;
  SelfAttention self_attention = SelfAttention::causal;  // with `full`, T5's buckets tell the two sides apart
  EmbeddingScale scale = EmbeddingScale::small;
  std::int64_t types = 0;                 // token types, such as the two texts of a pair, with a vector each; 0: none
  double epsilon = 1e-5;                  // of the norm over the sum
  std::vector<double> alibi_slopes = {};  // [heads], of ALiBi; empty: alibi_slopes() of them
  NormKind norm = NormKind::layer;        // over the sum
  std::optional<double> factor = std::nullopt;  // of the embeddings: Granite
  std::int64_t t5_buckets = 32;
  std::int64_t t5_max_distance = 128;
  bool t5_beside = false;        // a table of buckets beside `positions`
  bool sines_in_halves = false;  // of sinusoidal positions: all sines, then all cosines, added as they are
  // The width of the tables and of the norm over the sum, from which a linear map leads to d_model; default: d_model,
  // without a map.
  std::optional<std::int64_t> d_embedding = std::nullopt;
  // A token that takes no place: row 0 of the learned positions is its, and the others begin with row 1.
  std::optional<std::int64_t> placeless = std::nullopt;
};

/// Token and position embedding, and what positions do inside the blocks: a table of buckets for T5, slopes of
/// alibi_slopes() for ALiBi. Rotary positions are an option of the blocks.
class TokenInput {
 public:
  /// Draws the tables in the order of parameters(). `model` stands first in messages.
  TokenInput(std::string_view model, const TokenInputOptions& options, const Init& init, DType dtype = DType::f32);
  /// With the table of tokens of another model: both learn it. Throws InvalidArgument naming vocabulary if the table
  /// is not [vocabulary, d_model].
  TokenInput(std::string_view model, const TokenInputOptions& options, Embedding tokens, const Init& init);

  /// ids [B, T] of the tokens from number `first` on -> [B, T, d_model] in call.dtype; dropout has its first place.
  /// Throws InvalidArgument naming ids.
  [[nodiscard]] Variable forward(const TensorView& ids, const ModelCall& call, std::int64_t first = 0) const;
  /// The same with token types [B, T]; an empty view: all 0. Throws InvalidArgument naming types, too.
  [[nodiscard]] Variable forward_typed(const TensorView& ids, const TensorView& types, const ModelCall& call,
                                       std::int64_t first = 0) const;
  /// The same of texts end to end, each with the positions that it has alone. Throws InvalidArgument naming lengths,
  /// too.
  [[nodiscard]] Variable forward_joined(const JoinedTokens& tokens, const ModelCall& call) const;
  /// What the self-attention of each block adds to its scores; empty if positions act elsewhere.
  [[nodiscard]] LearnedTerms learned_bias() const;
  [[nodiscard]] Bias fixed_bias() const;
  /// The table of tokens.
  [[nodiscard]] const Embedding& tokens() const noexcept { return tokens_; }
  /// That of the parameters.
  [[nodiscard]] DType dtype() const { return tokens_.dtype(); }

  /// embedding.weight, positions.weight, types.weight, ln_embedding, embedding_map, t5.weight, as far as there are any.
  [[nodiscard]] Parameters parameters() const;

 private:
  [[nodiscard]] Variable vectors(const TensorView& ids, const TensorView& types, const Tensor& positions,
                                 const ModelCall& call) const;
  [[nodiscard]] Variable type_vectors(const TensorView& ids, const TensorView& types) const;
  [[nodiscard]] Tensor rows_of(const TensorView& ids, const Tensor& positions) const;

  std::string_view model_;
  TokenInputOptions options_;
  Embedding tokens_;
  std::optional<Embedding> positions_;
  std::optional<Embedding> types_;
  std::optional<Norm> norm_;
  std::optional<Linear> map_;
  Variable t5_;  // [buckets, heads]; empty without
};

/// The places of texts of these lengths end to end, each counted from 0: i64 [T].
[[nodiscard]] Tensor joined_positions(const std::vector<std::int64_t>& lengths);

/// Parameters of a TokenInput, by arithmetic, its table of tokens included.
[[nodiscard]] std::int64_t parameter_count(const TokenInputOptions& options);

}  // namespace qkv
