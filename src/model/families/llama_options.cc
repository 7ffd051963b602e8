#include "model/families/llama_options.h"

#include <cmath>
#include <variant>

#include "model/families/family.h"
#include "model/families/loading.h"

namespace qkv::families {
namespace {

constexpr std::string_view kOriginal = "original_max_position_embeddings";
constexpr std::string_view kTurnedPart = "partial_rotary_factor";

// `transformers` takes 0 for no value.
double beta_in(const ConfigFile& rope, std::string_view word, double otherwise) {
  const double beta = rope.number(word, otherwise);
  return beta == 0 ? otherwise : beta;
}

RotaryScaling yarn_in(const ConfigFile& rope, const RotaryLengths& lengths) {
  const std::int64_t original = lengths.original_in(rope);
  if (original < 1) rope.refuse(kOriginal, "1 or more");
  const double ratio = static_cast<double>(lengths.longest) / static_cast<double>(original);
  YarnScaling scaling{.factor = rope.number("factor", ratio),
                      .original_max = original,
                      .beta_fast = beta_in(rope, "beta_fast", 32),
                      .beta_slow = beta_in(rope, "beta_slow", 1)};
  scaling.truncate = rope.flag("truncate", true);
  // As `transformers`: the factor alone where it is there, else both of the others or none.
  const double mscale = rope.number("mscale", 0);
  const double mscale_all_dim = rope.number("mscale_all_dim", 0);
  if (rope.has("attention_factor")) {
    scaling.attention_factor = rope.number("attention_factor");
  } else if (mscale != 0 && mscale_all_dim != 0) {
    scaling.mscale = mscale;
    scaling.mscale_all_dim = mscale_all_dim;
  }
  return scaling;
}

// As `transformers`: `factor` is the ratio of the lengths where it is not there. Phi MoE has the magnitudes themselves.
RotaryScaling longrope_in(const ConfigFile& rope, const RotaryLengths& lengths) {
  const std::int64_t original = lengths.original_in(rope);
  if (original < 2) rope.refuse(kOriginal, "2 or more");
  const double ratio = static_cast<double>(lengths.longest) / static_cast<double>(original);
  const double factor = rope.number("factor", ratio);
  const double usual = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original)));
  const double magnitude = rope.has("attention_factor") ? rope.number("attention_factor") : usual;
  return LongRopeScaling{.shorter = rope.numbers("short_factor"),
                         .longer = rope.numbers("long_factor"),
                         .original_max = original,
                         .shorter_magnitude = rope.number("short_mscale", magnitude),
                         .longer_magnitude = rope.number("long_mscale", magnitude)};
}

// Frequencies change beyond max_position_embeddings alone.
RotaryScaling dynamic_in(const ConfigFile& rope, std::string_view word, const RotaryLengths& lengths) {
  static_cast<void>(rope.number("factor"));
  rope.remark(word, "dynamic: texts of more than " + std::to_string(lengths.longest) +
                        " tokens (max_position_embeddings) turn as shorter ones do, not more slowly");
  return std::monostate{};
}

// rope_scaling goes before rope_parameters, of which then nothing is left.
std::string_view rotary_word(const ConfigFile& config) {
  return config.object_or_none("rope_scaling").words().empty() ? "rope_parameters" : "rope_scaling";
}

// Reads base and scaling. Returns the object of rotary options, for what else is in it.
ConfigFile read_turns(const ConfigFile& config, std::int64_t longest, LayerChoices& choices, const RotaryBase& base) {
  choices.rotary_base = config.number(base.word, base.otherwise);
  RotaryLengths lengths{.longest = longest};
  if (config.has(kOriginal)) lengths.original = config.integer(kOriginal);
  const std::string_view word = rotary_word(config);
  const bool has_older = word == "rope_scaling";
  const ConfigFile rope = config.object_or_none(word);
  if (has_older && config.has("rope_parameters") && config.shown(word) != config.shown("rope_parameters")) {
    config.mark_read("rope_parameters");
    config.remark("rope_parameters", "not used, since rope_scaling is there too and goes before it");
  }
  if (rope.has("full_attention")) config.refuse(word, "one object for all layers");
  choices.rotary_base = rope.number("rope_theta", choices.rotary_base);
  choices.rotary_scaling = scaling_in(rope, lengths);
  return rope;
}

}  // namespace

ConfigFile rotary_object(const ConfigFile& config) { return config.object_or_none(rotary_word(config)); }

// `transformers` reads it for scaled frequencies alone, where these families then have no use for it.
void ignore_turned_part(const ConfigFile& rope, const RotaryScaling& scaling) {
  const bool is_default = std::holds_alternative<std::monostate>(scaling);
  if (!is_default && rope.number(kTurnedPart, 1) != 1)
    rope.refuse(kTurnedPart, "1.0 beside frequencies that are scaled");
  if (rope.number(kTurnedPart, 1) == 1) return;
  rope.remark(kTurnedPart, rope.shown(kTurnedPart) + ": not used: whole heads turn, as in transformers");
}

std::int64_t RotaryLengths::original_in(const ConfigFile& rope) const {
  const std::int64_t own = rope.integer(kOriginal, longest);
  return original.value_or(own);
}

RotaryScaling scaling_in(const ConfigFile& rope, const RotaryLengths& lengths) {
  const std::string_view word = rope.has("rope_type") ? "rope_type" : "type";
  const std::string type = rope.text("rope_type", rope.text("type", "default"));
  if (type == "default") return std::monostate{};
  if (type == "linear") return LinearScaling{rope.number("factor")};
  if (type == "dynamic") return dynamic_in(rope, word, lengths);
  if (type == "yarn") return yarn_in(rope, lengths);
  if (type == "longrope" || type == "su") return longrope_in(rope, lengths);
  if (type == "llama3") {
    return Llama3Scaling{.factor = rope.number("factor"),
                         .low_freq_factor = rope.number("low_freq_factor"),
                         .high_freq_factor = rope.number("high_freq_factor"),
                         .original_max = lengths.original_in(rope)};
  }
  rope.refuse(word, "default, linear, dynamic, llama3, longrope or yarn");
}

void read_rotary(const ConfigFile& config, DecoderOptions& options, double base) {
  read_rotary(config, options.length, options.choices, {.otherwise = base});
}

void read_rotary(const ConfigFile& config, std::int64_t longest, LayerChoices& choices, const RotaryBase& base) {
  const ConfigFile rope = read_turns(config, longest, choices, base);
  ignore_turned_part(rope, choices.rotary_scaling);
  ignore_turned_part(config, choices.rotary_scaling);
}

void read_partial_rotary(const ConfigFile& config, DecoderOptions& options, double otherwise,
                         const RotaryWords& words) {
  const ConfigFile rope = read_turns(config, options.length, options.choices, {.word = words.base});
  const double part = rope.number(kTurnedPart, config.number(words.part, otherwise));
  if (!(part > 0 && part <= 1)) {
    (rope.has(kTurnedPart) ? rope : config)
        .refuse(rope.has(kTurnedPart) ? kTurnedPart : words.part, "more than 0, at most 1");
  }
  if (options.heads < 1) return;  // which the network refuses
  const std::int64_t width = heads_of(options).D;
  const auto turned = static_cast<std::int64_t>(part * static_cast<double>(width));
  if (turned != width) options.choices.rotary_dim = turned;
}

void read_rotary_of_types(const ConfigFile& config, std::int64_t longest, LayerChoices& choices,
                          const TypedRotary& words) {
  const RotaryLengths lengths{.longest = longest};
  const ConfigFile types = config.object_or_none("rope_parameters");
  const ConfigFile none = types.object_or_none("full_attention");
  const bool has_types = types.has("full_attention");
  const ConfigFile full = has_types ? types.object("full_attention") : none.with("rope_type", "default");
  const ConfigFile scaling = config.object_or_none("rope_scaling");
  const ConfigFile turned = full.updated(scaling);
  choices.rotary_base = turned.number("rope_theta", config.number(words.full_word, words.full));
  choices.rotary_scaling = scaling_in(turned, lengths);
  ignore_turned_part(turned, choices.rotary_scaling);
  const ConfigFile own = types.object_or_none("sliding_attention");
  const ConfigFile local = words.scales_both ? own.updated(scaling) : own;
  choices.local_rotary_base = local.number("rope_theta", config.number(words.local_word, words.local));
  choices.local_rotary_scaling = scaling_in(local, lengths);
  ignore_turned_part(local, choices.local_rotary_scaling);
}

std::int64_t kv_heads_in(const ConfigFile& config, std::int64_t heads, std::int64_t otherwise) {
  constexpr std::string_view kWord = "num_key_value_heads";
  return config.integer(kWord, config.contains(kWord) ? heads : otherwise);
}

DecoderOptions sizes_in(const ConfigFile& config, bool tied) {
  return {.vocabulary = config.integer("vocab_size"),
          .length = config.integer("max_position_embeddings"),
          .layers = config.layers("num_hidden_layers"),
          .d_model = config.integer("hidden_size"),
          .heads = config.integer("num_attention_heads"),
          .d_ff = config.integer("intermediate_size"),
          .positions = Positions::rotary,
          .tied = config.flag("tie_word_embeddings", tied)};
}

DecoderOptions llama_options(const ConfigFile& config) {
  DecoderOptions options = sizes_in(config);
  options.activation = activation_in(config, "hidden_act", "silu");
  options.bias = false;
  options.choices = {.norm = NormKind::rms,
                     .epsilon = config.number("rms_norm_eps", 1e-6),
                     .feed_forward = FeedForwardKind::gated,
                     .feed_forward_bias = false,
                     .kv_heads = kv_heads_in(config, options.heads, options.heads)};
  if (config.has("head_dim")) options.choices.d_k = config.integer("head_dim");
  return options;
}

std::optional<std::int64_t> window_in(const ConfigFile& config, std::int64_t otherwise) {
  constexpr std::string_view kWord = "sliding_window";
  if (config.contains(kWord) && !config.has(kWord)) return std::nullopt;
  const std::int64_t window = config.integer(kWord, otherwise);
  if (window < 1) config.refuse(kWord, "1 key or more, or null");
  return window;
}

void read_window(const ConfigFile& config, DecoderOptions& options) {
  const std::optional<std::int64_t> window = window_in(config, 1);
  const auto windows = windows_in(config, options.layers, window.value_or(0), [](std::int64_t) { return true; });
  if (window && config.has("sliding_window")) options.choices.windows = windows;
}

std::vector<std::int64_t> windows_in(const ConfigFile& config, std::int64_t layers, std::int64_t window,
                                     const std::function<bool(std::int64_t)>& is_local) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), window);
  if (!config.has("layer_types")) {
    for (std::int64_t n = 0; n < layers; ++n) {
      if (!is_local(n)) windows[static_cast<std::size_t>(n)] = 0;
    }
    return windows;
  }
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.size() != windows.size()) config.refuse("layer_types", "one for each of num_hidden_layers");
  for (std::size_t n = 0; n < types.size(); ++n) {
    if (types[n] == "full_attention") windows[n] = 0;
    if (types[n] != "full_attention" && types[n] != "sliding_attention") {
      config.refuse("layer_types", "full_attention and sliding_attention");
    }
  }
  return windows;
}

}  // namespace qkv::families
