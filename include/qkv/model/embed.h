// Texts as vectors: the states of an encoder's last block, pooled; and the words that masked tokens stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/model.h"

namespace qkv {

/// How the states of a text's tokens, special ones included, become one vector.
enum class Pooling : std::uint8_t {
  mean,
  first,  // of the first token: "[CLS]"
  last,
  max,  // of each number the largest
};
/// "mean", "first", "last", "max"
[[nodiscard]] std::string_view name_of(Pooling pooling) noexcept;
/// Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] Pooling pooling_named(std::string_view name);

struct EmbedOptions {
  Pooling pooling = Pooling::mean;
  bool normalised = false;  // to a length of 1
  std::optional<DType> dtype = std::nullopt;
  // Tokens of a text that are read, at most, special ones included: the last of its own are left out. none: all.
  std::optional<std::int64_t> length = std::nullopt;
  /// Told the number of a text that is longer than `length`, and its tokens.
  std::function<void(std::size_t text, std::int64_t tokens)> cut = {};
};

/// What a folder of a sentence transformer says in modules.json, the config of its pooling and max_seq_length of
/// sentence_bert_config.json; the defaults where it says nothing, or for a file. Throws Error naming the file and a
/// pooling, or a module, that is not known.
[[nodiscard]] EmbedOptions embed_options_of(const std::string& folder);

/// States [T, d] as one vector [d], in f64, not normalised.
[[nodiscard]] std::vector<double> pooled_states(const TensorView& states, Pooling pooling);

/// A vector a text, f32 [texts, d_model], in their order. The last states of an encoder or a decoder, pooled; of two
/// towers what TwoTower::embed_texts() gives. Texts share passes, an encoder's end to end and others' those of the same
/// number of tokens, so that no padding is computed. Throws InvalidArgument naming model for another kind, or texts[n]
/// with more tokens than the model has positions.
[[nodiscard]] Tensor embed_texts(const Model& model, std::span<const std::string> texts,
                                 const EmbedOptions& options = {});

/// A piece that may stand at a masked token.
struct MaskFilling {
  std::int32_t token = 0;
  double probability = 0;
};

/// A masked token of a text, and what it may be, the likeliest first.
struct FilledMask {
  std::int64_t place = 0;  // of the encoding's tokens
  std::vector<MaskFilling> fillings;
};

/// The `count` likeliest pieces for each "[MASK]" or "<mask>" of a text, by an encoder with an output map. Throws
/// InvalidArgument naming model, or text if it has no mask.
[[nodiscard]] std::vector<FilledMask> fill_masks(const Model& model, std::string_view text, std::int64_t count);
/// The same of a text's tokens at these places, whatever stands there.
[[nodiscard]] std::vector<FilledMask> fill_places(const Model& model, std::span<const std::int32_t> tokens,
                                                  std::span<const std::int64_t> places, std::int64_t count);

}  // namespace qkv
