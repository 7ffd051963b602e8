// What the options of the models of text have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "qkv/model/layer_choices.h"
#include "qkv/model/token_input.h"

namespace qkv {

struct TextOptions {
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;
  std::int64_t layers = 0;
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::optional<std::int64_t> d_ff = std::nullopt;
  Positions positions = Positions::none;
  NormOrder order = NormOrder::pre;
  Activation activation = Activation::gelu;
  bool bias = true;  // of the maps of attention
  std::optional<std::int64_t> d_context = std::nullopt;
  LayerChoices choices = {};
};

/// What all models name alike.
template <class Options>
[[nodiscard]] TextOptions text_options(const Options& options, std::int64_t layers) {
  return {.vocabulary = options.vocabulary,
          .length = options.length,
          .layers = layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions};
}

/// Throws InvalidArgument(model, …) naming the option that has no meaning.
void require_sound(std::string_view model, const TextOptions& options);

[[nodiscard]] TokenInputOptions input_options(const TextOptions& options, SelfAttention self_attention,
                                              EmbeddingScale scale);
[[nodiscard]] StackOptions stack_options(const TextOptions& options, StackKind kind);

/// Throws InvalidArgument(model, "start", …) for a token to start with that the vocabulary does not have.
void require_start(std::string_view model, std::optional<std::int64_t> start, std::int64_t vocabulary);

/// What texts are written behind, i64 [texts, T]: the prompt, or where it is an empty view the token to start with.
/// Throws InvalidArgument(model, "prompt", …) where there is neither.
[[nodiscard]] Tensor prompt_or_start(std::string_view model, const TensorView& prompt,
                                     std::optional<std::int64_t> start, std::int64_t texts);

/// The call of one of several parts of a model: the same, with dropout of its own, under the trace of the whole.
[[nodiscard]] ModelCall part_of(const ModelCall& call, std::uint64_t part);

/// Lengths of B texts of at most T tokens as a mask of their keys; everything where there are none. Throws
/// InvalidArgument(model, "lengths", …).
[[nodiscard]] Mask padding_mask(std::string_view model, const std::vector<std::int64_t>& lengths, std::int64_t B,
                                std::int64_t T);

/// The map from what the blocks give to scores; none if it is the table of the tokens.
[[nodiscard]] std::optional<Linear> output_map(bool is_tied, const TokenInput& input, const Init& init,
                                               bool has_bias = false);

/// Scores of what the blocks gave: by the map, or by the table of the tokens where there is none.
[[nodiscard]] Variable scores_of(const Variable& x, const std::optional<Linear>& output, const TokenInput& input,
                                 const ModelCall& call);

/// The weights of "<stack>blocks.<n>.<part>" for each layer n; `part` is "attn" or "cross".
[[nodiscard]] std::vector<Tensor> weights_of(const Trace& trace, std::string_view stack, std::string_view part,
                                             std::int64_t layers);

/// Parameters of a stack, of which none is drawn.
[[nodiscard]] std::int64_t parameter_count(const StackOptions& options);

}  // namespace qkv
