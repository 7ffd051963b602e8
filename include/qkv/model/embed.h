// Texts as vectors: the states of an encoder's last block, pooled; and the words that masked tokens stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/model.h"

namespace qkv {

/// How the states h_0 .. h_{T-1} of a text's tokens, special ones included, become one vector. The words are those of
/// sentence-transformers' `pooling_mode`, which says "cls" and "lasttoken" for the first and the last.
enum class Pooling : std::uint8_t {
  mean,                  // sum h_t / T
  first,                 // h_0, of "[CLS]"
  last,                  // h_{T-1}
  max,                   // of each number the largest
  weightedmean,          // sum (t + 1) h_t / sum (t + 1): later tokens count more (Muennighoff 2022, SGPT)
  mean_sqrt_len_tokens,  // sum h_t / sqrt(T)
};
/// "mean", "first", "last", "max", "weightedmean", "mean_sqrt_len_tokens"
[[nodiscard]] std::string_view name_of(Pooling pooling) noexcept;
/// Also takes "cls" and "lasttoken". Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] Pooling pooling_named(std::string_view name);
/// Words with commas between them: "first,mean". Throws as pooling_named().
[[nodiscard]] std::vector<Pooling> poolings_named(std::string_view names);

/// What a module behind the pooling makes of a text's vector.
struct VectorStep {
  std::string module = {};  // "2_Dense", for messages
  bool normalises = false;  // it only brings the vector to a length of 1
  std::function<std::vector<double>(const std::vector<double>&)> apply = {};
};

/// Which tokens of a text that is too long are left out: its last, or its first. Those of a template stay.
enum class CutAt : std::uint8_t { end, beginning };

struct EmbedOptions {
  std::vector<Pooling> pooling = {Pooling::mean};    // the vectors of several stand end to end, in this order
  std::vector<VectorStep> steps = {};                // then these, in their order
  std::optional<std::int64_t> width = std::nullopt;  // then so many of the first numbers (Matryoshka embeddings)
  bool normalised = false;                           // then to a length of 1
  std::optional<DType> dtype = std::nullopt;
  // Tokens of a text that are read, at most, special ones and a prompt's included. none: all.
  std::optional<std::int64_t> length = std::nullopt;
  CutAt cut_at = CutAt::end;
  std::string prompt = {};                          // stands before each text
  bool pools_prompt = true;                         // false: its tokens are read, and take no part in the pooling
  std::map<std::string, std::string> prompts = {};  // those that the folder names
  std::shared_ptr<const Tokenizer> tokenizer = {};  // in place of the model's own
  std::string similarity = "cosine";                // what the folder compares vectors by; changes no vector
  /// What of its files the folder says in vain: a sentence each, for people.
  std::vector<std::string> cautions = {};
  /// Told the number of a text that is longer than `length`, and its tokens.
  std::function<void(std::size_t text, std::int64_t tokens)> cut = {};
};

/// What a folder of a sentence transformer says in modules.json and the configs of its modules, in
/// sentence_bert_config.json and in config_sentence_transformers.json; docs/embeddings.md lists every field. The
/// defaults, but for `length`, where there is no modules.json. Of a GGUF file its pooling and how long its texts are,
/// and the defaults for a file of qkv's. Throws Error naming the file and a pooling, module or path that is not known,
/// and for modules without a pooling.
[[nodiscard]] EmbedOptions embed_options_of(const std::string& folder);

/// The prompt of this name. Throws InvalidArgument naming prompt_name, with the names that there are.
[[nodiscard]] const std::string& prompt_named(const EmbedOptions& options, const std::string& name);

/// States [T, d] as one vector [d for each pooling], in f64, not normalised. The rows before `begin` are left out; the
/// weights of the others stay. Throws InvalidArgument naming begin if no row is left.
[[nodiscard]] std::vector<double> pooled_states(const TensorView& states, std::span<const Pooling> pooling,
                                                std::int64_t begin = 0);
/// The whole way from states [T, d] to a text's vector: pooling, steps, width, length of 1. Throws as pooled_states(),
/// and Error naming a module for vectors of another width.
[[nodiscard]] std::vector<double> vector_of_states(const TensorView& states, const EmbedOptions& options,
                                                   std::int64_t begin = 0);

/// A vector a text, f32 [texts, d], in their order. The last states of an encoder, of the encoder of T5 or of a
/// decoder, as vector_of_states() has them; of two towers what TwoTower::embed_texts() gives. Texts share passes, an
/// encoder's end to end and others' those of the same number of tokens, so that no padding is computed. Throws
/// InvalidArgument naming model for another kind, or texts[n] with a part that is no token or more tokens than the
/// model has positions; Error for a vector that is not finite.
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
