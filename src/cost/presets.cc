#include <algorithm>
#include <array>

#include "qkv/cost.h"
#include "qkv/error.h"

namespace qkv {
namespace {

CostConfig gpt(std::string name, std::int64_t layers, std::int64_t d_model, std::int64_t heads, std::int64_t tokens) {
  CostConfig config;
  config.name = std::move(name);
  config.layers = layers;
  config.d_model = d_model;
  config.heads = heads;
  config.attention_bias = true;
  config.ffn_bias = true;
  config.norms_outside_layers = 1;
  config.vocab = 50257;
  config.learned_positions = tokens;
  config.output_head = OutputHead::tied;
  config.causal = true;
  config.tokens = tokens;
  return config;
}

/// Vaswani et al. 2017, table 3: 37,000 words shared by both embeddings and the output; projections without biases.
CostConfig transformer_base() {
  CostConfig config;
  config.name = "transformer-base";
  config.layers = 6;
  config.decoder_layers = 6;
  config.d_model = 512;
  config.heads = 8;
  config.ffn_bias = true;
  config.vocab = 37000;
  config.output_head = OutputHead::tied;
  config.tokens = 512;
  return config;
}

/// Devlin et al. 2019, with the pooler and without the heads of pre-training.
CostConfig bert_base() {
  CostConfig config = gpt("bert-base", 12, 768, 12, 512);
  config.vocab = 30522;
  config.token_types = 2;
  config.pooler = true;
  config.output_head = OutputHead::none;
  config.causal = false;
  return config;
}

/// Radford et al. 2018: post-norm, so no norm behind the last layer.
CostConfig gpt1() {
  CostConfig config = gpt("gpt-1", 12, 768, 12, 512);
  config.vocab = 40478;
  config.norms_outside_layers = 0;
  return config;
}

/// Dubey et al. 2024, table 3.
CostConfig llama3_8b() {
  CostConfig config;
  config.name = "llama-3-8b";
  config.layers = 32;
  config.d_model = 4096;
  config.heads = 32;
  config.kv_heads = 8;
  config.d_ff = 14336;
  config.gated_ffn = true;
  config.norm_bias = false;
  config.norms_outside_layers = 1;
  config.vocab = 128256;
  config.output_head = OutputHead::untied;
  config.causal = true;
  config.tokens = 8192;
  return config;
}

const std::vector<CostConfig>& presets() {
  static const std::vector<CostConfig> kPresets = {
      transformer_base(),
      bert_base(),
      gpt1(),
      gpt("gpt2", 12, 768, 12, 1024),    // Radford et al. 2019, the smallest
      gpt("gpt3", 96, 12288, 96, 2048),  // Brown et al. 2020, table 2.1, the largest
      llama3_8b(),
  };
  return kPresets;
}

}  // namespace

const std::vector<std::string>& cost_presets() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const CostConfig& config : presets()) names.push_back(config.name);
    return names;
  }();
  return kNames;
}

CostConfig cost_preset(std::string_view name) {
  const auto found =
      std::find_if(presets().begin(), presets().end(), [&](const auto& one) { return one.name == name; });
  if (found != presets().end()) return *found;
  std::string expected = "one of";
  for (const std::string& known : cost_presets()) expected += (known == cost_presets().front() ? " " : ", ") + known;
  throw InvalidArgument("cost", "preset", expected, "\"" + std::string(name) + "\"");
}

}  // namespace qkv
