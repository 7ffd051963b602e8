// Metadata of a GGUF file as words that the configs of several families have alike.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "files/gguf_keys.h"

namespace qkv::families {

[[nodiscard]] bool has_tensor(const files::GgufKeys& keys, std::string_view name);
/// Of the architecture: "block_count".
[[nodiscard]] std::int64_t integer_of(const files::GgufKeys& keys, std::string_view name);
/// 1 where there is no such key.
[[nodiscard]] double factor_of(const files::GgufKeys& keys, std::string_view name);
/// A number of all layers, or a list of one that is the same in each.
[[nodiscard]] std::int64_t of_each_layer(const files::GgufKeys& keys, std::string_view name,
                                         std::optional<std::int64_t> otherwise = {});
/// No more than there are tensors: a wrong number must not cost minutes and gigabytes.
[[nodiscard]] std::int64_t layers_of(const files::GgufKeys& keys);
[[nodiscard]] std::int64_t head_width(const files::GgufKeys& keys, std::int64_t width, std::int64_t heads);
void require_absent(const files::GgufKeys& keys, std::string_view name, std::string_view without);

/// How much of each head turns.
enum class TurnedPart : std::uint8_t { whole, as_said, none };

/// What differs among decoders.
struct DecoderForm {
  double base = 1e4;                          // of rotary positions, where the file has none
  std::string_view epsilon = "rms_norm_eps";  // what the config calls it; of a LayerNorm by any other name
  TurnedPart turned = TurnedPart::whole;
};

/// Sizes, epsilon, rotary positions and whether tables are tied, as Llama and the families after it say them.
[[nodiscard]] nlohmann::json words_of_all_decoders(const files::GgufKeys& keys, const DecoderForm& form = {});
/// The same of one without experts.
[[nodiscard]] nlohmann::json decoder_words(const files::GgufKeys& keys, const DecoderForm& form = {});
/// And whether attention has biases.
[[nodiscard]] nlohmann::json words_with_bias(const files::GgufKeys& keys, const DecoderForm& form = {});

/// Configs of some say no width of a head, unless that is not d_model / heads.
[[nodiscard]] nlohmann::json without_usual_width(nlohmann::json words);

/// layer_types: layers of a list, or all but every n-th, by default every `usual`-th, see a window.
[[nodiscard]] nlohmann::json layer_types_of(const files::GgufKeys& keys, std::int64_t usual);

/// rope_parameters by layer_types: `full` where a layer sees all, and the base where it sees a window.
[[nodiscard]] nlohmann::json rope_by_layer(const files::GgufKeys& keys, const nlohmann::json& full);

/// Granite's factors, beside other words.
void add_factors(const files::GgufKeys& keys, nlohmann::json& words);

}  // namespace qkv::families
