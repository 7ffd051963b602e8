// Llama (Touvron et al. 2023) and its relatives: RMSNorm, rotary positions, SwiGLU, heads that share keys and values.
#include <cmath>

#include "model/families/family.h"

namespace qkv::families {
namespace {

constexpr WeightName kLlamaNames[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.q_norm", .theirs = "layers.#.self_attn.q_norm"},
    {.ours = "blocks.#.attn.k_norm", .theirs = "layers.#.self_attn.k_norm"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_proj"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.up_proj"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
// Frequencies, which follow from the config, and the table once more.
constexpr std::string_view kLlamaUnused[] = {"*rotary_emb.inv_freq", "lm_head.weight"};

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

RotaryScaling scaling_in(const ConfigFile& rope, std::int64_t length) {
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
    rope.require("partial_rotary_factor", 1.0);
    options.choices.rotary_base = rope.number("rope_theta", options.choices.rotary_base);
    options.choices.rotary_scaling = scaling_in(rope, options.length);
  }
}

DecoderOptions llama_options(const ConfigFile& config) {
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_position_embeddings"),
                         .layers = config.integer("num_hidden_layers"),
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
  read_rotary(config, options);
  return options;
}

// The window of each layer: of those that `layer_types` calls sliding, else of all from number `first` on.
std::vector<std::int64_t> windows_in(const ConfigFile& config, std::int64_t layers, std::int64_t first) {
  if (!config.has("sliding_window")) return {};
  const std::int64_t window = config.integer("sliding_window");
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), window);
  if (!config.has("layer_types")) {
    for (std::int64_t n = 0; n < std::min(first, layers); ++n) windows[static_cast<std::size_t>(n)] = 0;
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

std::vector<std::int64_t> qwen_windows(const ConfigFile& config, std::int64_t layers) {
  if (!config.flag("use_sliding_window", false)) return {};
  return windows_in(config, layers, config.integer("max_window_layers", layers));
}

Model::Network llama_network(const ConfigFile& config, const Init& init, DType dtype) {
  return Decoder(llama_options(config), init, dtype);
}

Model::Network mistral_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = llama_options(config);
  options.choices.windows = windows_in(config, options.layers, 0);
  return Decoder(options, init, dtype);
}

Model::Network qwen2_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = llama_options(config);
  options.bias = true;
  options.choices.out_bias = false;
  options.choices.windows = qwen_windows(config, options.layers);
  return Decoder(options, init, dtype);
}

Model::Network qwen3_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = llama_options(config);
  options.choices.qk_norm = options.choices.epsilon;
  options.choices.windows = qwen_windows(config, options.layers);
  return Decoder(options, init, dtype);
}

constexpr Family llama_like(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType)) {
  return {.type = type, .prefix = "model.", .network = network, .names = kLlamaNames, .unused = kLlamaUnused};
}

}  // namespace

const Family& llama() {
  static constexpr Family kFamily = llama_like("llama", llama_network);
  return kFamily;
}

const Family& mistral() {
  static constexpr Family kFamily = llama_like("mistral", mistral_network);
  return kFamily;
}

const Family& qwen2() {
  static constexpr Family kFamily = llama_like("qwen2", qwen2_network);
  return kFamily;
}

const Family& qwen3() {
  static constexpr Family kFamily = llama_like("qwen3", qwen3_network);
  return kFamily;
}

}  // namespace qkv::families
