// Relatives of Llama with another norm, other positions or factors: SmolLM3, Granite (IBM 2024), OLMo 2 (OLMo Team
// 2024), StarCoder 2 (Lozhkov et al. 2024), StableLM (Bellagente et al. 2024) and GLM 4 (Zeng et al. 2024).
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kOlmo2Names[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.q_norm", .theirs = "layers.#.self_attn.q_norm"},
    {.ours = "blocks.#.attn.k_norm", .theirs = "layers.#.self_attn.k_norm"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.attn_norm", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_proj"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.up_proj"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj"},
    {.ours = "blocks.#.ffn_norm", .theirs = "layers.#.post_feedforward_layernorm"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

constexpr WeightName kStarcoder2Names[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.c_fc"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.c_proj"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

// Of the first release two norms, of the second four.
constexpr WeightName kGlmNames[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.attn_norm", .theirs = "layers.#.post_self_attn_layernorm"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_up_proj", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.gate_up_proj", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj"},
    {.ours = "blocks.#.ffn_norm", .theirs = "layers.#.post_mlp_layernorm"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

// 0 in `no_rope_layers` says that a layer's q and k do not turn; without it each `no_rope_layer_interval`-th.
std::vector<std::int64_t> unturned_in(const ConfigFile& config, std::int64_t layers) {
  constexpr std::string_view kWord = "no_rope_layers";
  const std::int64_t interval = config.integer("no_rope_layer_interval", 4);
  if (interval < 1) config.refuse("no_rope_layer_interval", "1 or more");
  std::vector<std::int64_t> unturned(static_cast<std::size_t>(layers));
  const std::vector<std::int64_t> turned = config.has(kWord) ? config.integers(kWord) : std::vector<std::int64_t>();
  if (config.has(kWord) && turned.size() != unturned.size()) config.refuse(kWord, "one for each layer");
  for (std::size_t n = 0; n < unturned.size(); ++n) {
    const bool turns = config.has(kWord) ? turned[n] != 0 : (n + 1) % static_cast<std::size_t>(interval) != 0;
    unturned[n] = turns ? 0 : 1;
  }
  return unturned;
}

Model::Network smollm3_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 4;
  constexpr double kBase = 2e6;
  DecoderOptions options = llama_options(config);
  options.tied = config.flag("tie_word_embeddings", true);
  options.bias = config.flag("attention_bias", false);
  options.choices.feed_forward_bias = config.flag("mlp_bias", false);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  read_rotary(config, options, kBase);
  options.choices.unturned = unturned_in(config, options.layers);
  const bool has_windows = config.flag("use_sliding_window", false) && config.has("sliding_window");
  const auto is_local = [&](std::int64_t n) { return options.choices.unturned[static_cast<std::size_t>(n)] != 0; };
  const std::int64_t window = has_windows ? window_in(config, 0).value_or(0) : 0;
  const auto windows = windows_in(config, options.layers, window, is_local);
  if (has_windows) options.choices.windows = windows;
  return Decoder(options, init, dtype);
}

Model::Network granite_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = granite_options(config);
  options.choices.feed_forward_bias = config.flag("mlp_bias", false);
  return Decoder(options, init, dtype);
}

Model::Network olmo2_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  options.order = NormOrder::after;
  options.bias = config.flag("attention_bias", false);
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.qk_norm = options.choices.epsilon;
  options.choices.qk_norm_of_all = true;
  return Decoder(options, init, dtype);
}

Model::Network starcoder2_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 2;
  DecoderOptions options = sizes_in(config, true);
  read_rotary(config, options);
  options.activation = activation_in(config, "hidden_act", "gelu_pytorch_tanh");
  options.bias = config.flag("use_bias", true);
  options.choices.epsilon = config.number("norm_epsilon", 1e-5);
  options.choices.feed_forward_bias = options.bias;
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (config.has("head_dim")) options.choices.d_k = config.integer("head_dim");
  read_window(config, options);
  return Decoder(options, init, dtype);
}

Model::Network stablelm_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr double kTurned = 0.25;
  constexpr std::int64_t kKvHeads = 32;
  config.require("qk_layernorm", false);
  DecoderOptions options = sizes_in(config);
  read_partial_rotary(config, options, kTurned);
  const bool is_parallel = config.flag("use_parallel_residual", false);
  options.order = is_parallel ? NormOrder::parallel_one : NormOrder::pre;
  options.activation = activation_in(config, "hidden_act", "silu");
  options.bias = config.flag("use_qkv_bias", false);
  options.choices.out_bias = false;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-5);
  options.choices.feed_forward = FeedForwardKind::gated;
  options.choices.feed_forward_bias = false;
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  return Decoder(options, init, dtype);
}

DecoderOptions glm_options(const ConfigFile& config) {
  constexpr double kTurned = 0.5;
  constexpr std::int64_t kKvHeads = 2;
  constexpr std::int64_t kHeadWidth = 128;
  DecoderOptions options = llama_options(config);
  options.bias = config.flag("attention_bias", true);
  options.choices.out_bias = false;
  options.choices.epsilon = config.number("rms_norm_eps", 1.5625e-07);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (!config.contains("head_dim")) options.choices.d_k = kHeadWidth;
  options.choices.rotary_layout = RotaryLayout::interleaved;
  read_partial_rotary(config, options, kTurned);
  return options;
}

Model::Network glm_network(const ConfigFile& config, const Init& init, DType dtype) {
  return Decoder(glm_options(config), init, dtype);
}

Model::Network glm4_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = glm_options(config);
  options.order = NormOrder::both;
  return Decoder(options, init, dtype);
}

}  // namespace

DecoderOptions granite_options(const ConfigFile& config) {
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  options.bias = config.flag("attention_bias", false);
  const auto factor = [&](std::string_view word) {
    const double value = config.number(word, 1);
    if (value <= 0) config.refuse(word, "more than 0");
    return value;
  };
  options.embedding_factor = factor("embedding_multiplier");
  options.output_scale = 1 / factor("logits_scaling");
  options.choices.residual_scale = factor("residual_multiplier");
  options.choices.scale = factor("attention_multiplier");
  return options;
}

std::span<const Family> relatives_of_llama() {
  static const Family kFamilies[] = {
      llama_like("glm", glm_network, kGlmNames),
      llama_like("glm4", glm4_network, kGlmNames),
      llama_like("granite", granite_network),
      llama_like("olmo2", olmo2_network, kOlmo2Names),
      llama_like("smollm3", smollm3_network),
      llama_like("stablelm", stablelm_network),
      llama_like("starcoder2", starcoder2_network, kStarcoder2Names),
  };
  return kFamilies;
}

}  // namespace qkv::families
