// Cohere's Command R (2024): LayerNorms without a bias, one for both sublayers of a block, pairs of neighbours turn;
// from Command R7B on, the layers without a window do not turn (Yang et al. 2025).
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

DecoderOptions cohere_options(const ConfigFile& config) {
  constexpr double kLogits = 0.0625;
  DecoderOptions options = sizes_in(config, true);
  options.order = NormOrder::parallel_one;
  options.activation = activation_in(config, "hidden_act", "silu");
  options.bias = config.flag("attention_bias", false);
  options.output_scale = config.number("logit_scale", kLogits);
  options.choices.norm = NormKind::layer_without_bias;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-5);
  options.choices.feed_forward = FeedForwardKind::gated;
  options.choices.feed_forward_bias = false;
  options.choices.kv_heads = kv_heads_in(config, options.heads, options.heads);
  if (config.has("head_dim")) options.choices.d_k = config.integer("head_dim");
  options.choices.rotary_layout = RotaryLayout::interleaved;
  return options;
}

Model::Network cohere_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr double kBase = 5e5;
  config.require("use_qk_norm", false);
  DecoderOptions options = cohere_options(config);
  read_rotary(config, options, kBase);
  return Decoder(options, init, dtype);
}

Model::Network cohere2_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kWindow = 4096;
  DecoderOptions options = cohere_options(config);
  read_rotary(config, options);
  const std::int64_t pattern = config.integer("sliding_window_pattern", 4);
  if (pattern < 1) config.refuse("sliding_window_pattern", "1 or more");
  const std::int64_t window = window_in(config, kWindow).value_or(0);
  if (window == 0) config.refuse("sliding_window", "a number of keys");
  options.choices.windows =
      windows_in(config, options.layers, window, [&](std::int64_t n) { return (n + 1) % pattern != 0; });
  for (const std::int64_t own : options.choices.windows) options.choices.unturned.push_back(own == 0 ? 1 : 0);
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> cohere_families() {
  static const Family kFamilies[] = {
      llama_like("cohere", cohere_network),
      llama_like("cohere2", cohere2_network),
  };
  return kFamilies;
}

}  // namespace qkv::families
