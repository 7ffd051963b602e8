// What attention costs: parameters, FLOPs, bytes kept and bytes moved, each figure with its arithmetic.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/dtype.h"

namespace qkv {

/// A whole number below 2^128, exact: the FLOPs of a training step pass 2^64.
class Count {
 public:
  constexpr Count() = default;
  constexpr explicit Count(std::uint64_t value) : low_(value) {}

  friend Count operator+(Count a, Count b) noexcept;
  friend Count operator*(Count a, Count b) noexcept;
  friend constexpr auto operator<=>(const Count&, const Count&) = default;

  /// Rounded to the nearest double.
  [[nodiscard]] double to_double() const noexcept;
  /// "1610612736"
  [[nodiscard]] std::string to_string() const;
  /// "1,610,612,736"
  [[nodiscard]] std::string grouped() const;

 private:
  constexpr Count(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

/// The product of the last layer's output with the output embedding, which gives scores over the vocabulary.
enum class OutputHead : std::uint8_t { none, tied, untied };

/// A transformer, and how it is run. Decoder-only and encoder-only models have `layers`;
/// an encoder-decoder has `layers` in the encoder and `decoder_layers`, each with a causal self-attention and a
/// cross-attention to the encoder's output, over the same number of tokens.
struct CostConfig {
  std::string name = "custom";
  std::int64_t layers = 0;
  std::int64_t decoder_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::optional<std::int64_t> kv_heads = std::nullopt;  // default: heads
  std::optional<std::int64_t> d_k = std::nullopt;       // d_model / heads
  std::optional<std::int64_t> d_v = std::nullopt;       // d_k
  std::optional<std::int64_t> d_ff = std::nullopt;      // 4 d_model
  bool gated_ffn = false;                               // a third matrix: SwiGLU and its kin
  bool attention_bias = false;
  bool ffn_bias = false;
  bool norm_bias = true;                  // of LayerNorm; an RMSNorm has a gain alone
  std::int64_t norms_outside_layers = 0;  // e.g. 1 for the one behind the last layer
  std::int64_t vocab = 0;                 // 0: no embedding is counted
  std::int64_t learned_positions = 0;     // rows of a learned position table
  std::int64_t token_types = 0;           // rows of BERT's segment table
  bool pooler = false;                    // BERT's d_model x d_model layer over the first token
  OutputHead output_head = OutputHead::none;
  bool causal = false;  // of `layers`

  std::int64_t tokens = 1024;
  std::int64_t batch = 1;
  DType dtype = DType::f32;  // of weights, activations and scores
  std::int64_t tile = 64;    // side of the tiled algorithm's square tiles
};

/// transformer-base, bert-base, gpt-1, gpt2, gpt3, llama-3-8b.
[[nodiscard]] const std::vector<std::string>& cost_presets();
/// Throws InvalidArgument listing the names. `tokens` is the model's full context.
[[nodiscard]] CostConfig cost_preset(std::string_view name);

enum class CostUnit : std::uint8_t { parameters, flops, bytes };

struct CostItem {
  std::string key;         // "scores.all_heads": stable, the name in JSON
  std::string name;        // "all heads of one layer"
  std::string arithmetic;  // "96 heads × 2,048² × 4 B"
  Count value;
  CostUnit unit = CostUnit::bytes;
};

struct CostGroup {
  std::string title;
  std::string note;  // what is counted and what is not; may be empty
  std::vector<CostItem> items;
};

struct CostReport {
  CostConfig config;  // with every default filled in
  std::vector<CostGroup> groups;

  /// Throws InvalidArgument if there is no such figure, or none for this configuration.
  [[nodiscard]] const CostItem& item(std::string_view key) const;
};

/// What cost() takes of a number of the configuration.
struct CostBounds {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// By the number's name, "d_model". Throws InvalidArgument for another.
[[nodiscard]] CostBounds cost_bounds(std::string_view number);

/// Every figure of one configuration. A multiply-add counts as 2 FLOPs; the notes of the groups state the rest.
/// Throws InvalidArgument naming the option that is zero, negative, beyond its bound, or does not fit the others.
/// Standard attention as in Dao et al. 2022, algorithm 0; tiled: Dao 2023 (FlashAttention-2), sections 3.1 and 3.2.
[[nodiscard]] CostReport cost(const CostConfig& config);

/// "1,610,612,736 B = 1.50 GiB", "124,439,808 = 124 M", "5,153,960,755,200 FLOP = 5.15 TFLOP"
[[nodiscard]] std::string amount_text(Count value, CostUnit unit);
/// The right-hand side alone: "1.50 GiB".
[[nodiscard]] std::string short_amount(Count value, CostUnit unit);

}  // namespace qkv
