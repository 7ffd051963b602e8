// What configs of Llama and of the families after it say alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/families/config_file.h"
#include "model/families/family.h"
#include "qkv/model/decoder.h"

namespace qkv::families {

[[nodiscard]] std::span<const WeightName> llama_names() noexcept;

/// A family whose config has Llama's words, with Llama's names of weights or others.
[[nodiscard]] Family llama_like(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType),
                                std::span<const WeightName> names = llama_names());

/// The sizes of a decoder with rotary positions by Llama's words, and whether its scores are products with the table:
/// `tied` where the config does not say. All else as DecoderOptions has it.
[[nodiscard]] DecoderOptions sizes_in(const ConfigFile& config, bool tied = false);

/// The options of a Llama without biases, windows and what read_rotary() reads.
[[nodiscard]] DecoderOptions llama_options(const ConfigFile& config);

/// The same with Granite's factors and biases of attention, and with read_rotary().
[[nodiscard]] DecoderOptions granite_options(const ConfigFile& config);

/// `num_key_value_heads`: `heads` where it is null, `otherwise` where it is not there.
[[nodiscard]] std::int64_t kv_heads_in(const ConfigFile& config, std::int64_t heads, std::int64_t otherwise);

/// How long the texts of a model are, and were at first.
struct RotaryLengths {
  std::int64_t longest = 0;                             // max_position_embeddings
  std::optional<std::int64_t> original = std::nullopt;  // original_max_position_embeddings of the whole config

  /// That of the whole config, else of `rope`, else the longest.
  [[nodiscard]] std::int64_t original_in(const ConfigFile& rope) const;
};

/// Base and scaling of all layers: `rope_theta`, and `rope_scaling` or `rope_parameters`; `base` where the config says
/// none. Whole heads turn.
void read_rotary(const ConfigFile& config, DecoderOptions& options, double base = 10000);
/// The word of a config for the base, beside that of its object of rotary options, and what it is without both.
struct RotaryBase {
  std::string_view word = "rope_theta";
  double otherwise = 10000;
};
/// The same of any layers, for texts of up to `longest` tokens.
void read_rotary(const ConfigFile& config, std::int64_t longest, LayerChoices& choices, const RotaryBase& base);
/// The words of a config for base and turned part of each head, beside those of its object of rotary options.
struct RotaryWords {
  std::string_view base = "rope_theta";
  std::string_view part = "partial_rotary_factor";
};
/// The same where `partial_rotary_factor` counts: that part of each head turns, `otherwise` where the config says none.
void read_partial_rotary(const ConfigFile& config, DecoderOptions& options, double otherwise,
                         const RotaryWords& words = {});
/// The words of bases where layers with a window turn by one of their own, and what they are without a word.
struct TypedRotary {
  std::string_view full_word;
  double full;
  std::string_view local_word;
  double local;
  bool scales_both = false;  // rope_scaling changes both; else that of layers without a window alone
};
/// Bases and scalings of both types of layers. Newer configs have an object for each type in rope_parameters, whose
/// words go before those of the config; words beside these objects do not count. rope_scaling, where older ones have
/// it, changes the objects.
void read_rotary_of_types(const ConfigFile& config, std::int64_t longest, LayerChoices& choices,
                          const TypedRotary& words);
/// Adds a remark for a partial_rotary_factor that is not used; refuses it beside scaled frequencies.
void ignore_turned_part(const ConfigFile& rope, const RotaryScaling& scaling);

/// The object of rotary options that counts: `rope_scaling` if it has words, else `rope_parameters`.
[[nodiscard]] ConfigFile rotary_object(const ConfigFile& config);

/// The scaling of an object of rotary options, `rope_parameters` or `rope_scaling`.
[[nodiscard]] RotaryScaling scaling_in(const ConfigFile& rope, const RotaryLengths& lengths);

/// `sliding_window`; nothing where it is null, `otherwise` where it is not there.
[[nodiscard]] std::optional<std::int64_t> window_in(const ConfigFile& config, std::int64_t otherwise);

/// `sliding_window` of all layers, or of those that `layer_types` calls sliding; none where the config has no such
/// word.
void read_window(const ConfigFile& config, DecoderOptions& options);

/// `window` for each layer that `layer_types` calls sliding, or for which is_local(n) where there are no types; 0 for
/// the others.
[[nodiscard]] std::vector<std::int64_t> windows_in(const ConfigFile& config, std::int64_t layers, std::int64_t window,
                                                   const std::function<bool(std::int64_t n)>& is_local);

}  // namespace qkv::families
