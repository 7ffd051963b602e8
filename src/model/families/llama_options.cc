#include "model/families/llama_options.h"

#include "model/families/family.h"

namespace qkv::families {
namespace {

RotaryScaling yarn_in(const ConfigFile& rope, std::int64_t length) {
  YarnScaling scaling{.factor = rope.number("factor"),
                      .original_max = rope.integer("original_max_position_embeddings", length),
                      .beta_fast = rope.number("beta_fast", 32),
                      .beta_slow = rope.number("beta_slow", 1)};
  rope.require("truncate", true);
  if (rope.has("attention_factor")) scaling.attention_factor = rope.number("attention_factor");
  if (rope.has("mscale")) scaling.mscale = rope.number("mscale");
  if (rope.has("mscale_all_dim")) scaling.mscale_all_dim = rope.number("mscale_all_dim");
  return scaling;
}

}  // namespace

RotaryScaling scaling_in(const ConfigFile& rope, std::int64_t length) {
  rope.require("partial_rotary_factor", 1.0);
  const std::string type = rope.text("rope_type", rope.text("type", "default"));
  if (type == "default") return std::monostate{};
  if (type == "linear") return LinearScaling{rope.number("factor")};
  if (type == "yarn") return yarn_in(rope, length);
  if (type == "llama3") {
    return Llama3Scaling{.factor = rope.number("factor"),
                         .low_freq_factor = rope.number("low_freq_factor"),
                         .high_freq_factor = rope.number("high_freq_factor"),
                         .original_max = rope.integer("original_max_position_embeddings")};
  }
  rope.refuse(rope.has("rope_type") ? "rope_type" : "type", "default, linear, llama3 or yarn");
}

void read_rotary(const ConfigFile& config, DecoderOptions& options) {
  options.choices.rotary_base = config.number("rope_theta", 10000);
  config.require("partial_rotary_factor", 1.0);
  for (const std::string_view word : {"rope_scaling", "rope_parameters"}) {
    if (!config.has(word)) continue;
    const ConfigFile rope = config.object(word);
    if (rope.has("full_attention")) config.refuse(word, "one object for all layers");
    options.choices.rotary_base = rope.number("rope_theta", options.choices.rotary_base);
    options.choices.rotary_scaling = scaling_in(rope, options.length);
  }
}

DecoderOptions llama_options(const ConfigFile& config) {
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_position_embeddings"),
                         .layers = config.layers("num_hidden_layers"),
                         .d_model = config.integer("hidden_size"),
                         .heads = config.integer("num_attention_heads"),
                         .d_ff = config.integer("intermediate_size"),
                         .positions = Positions::rotary,
                         .tied = config.flag("tie_word_embeddings", false),
                         .activation = activation_in(config, "hidden_act", "silu"),
                         .bias = config.flag("attention_bias", false)};
  options.choices = {.norm = NormKind::rms,
                     .epsilon = config.number("rms_norm_eps", 1e-6),
                     .feed_forward = FeedForwardKind::gated,
                     .feed_forward_bias = config.flag("mlp_bias", false),
                     .kv_heads = config.integer("num_key_value_heads", options.heads)};
  if (config.has("head_dim")) options.choices.d_k = config.integer("head_dim");
  return options;
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
