// Llama (Touvron et al. 2023) and its relatives: RMSNorm, rotary positions, SwiGLU, heads that share keys and values.
#include "model/families/family.h"
#include "model/families/llama_options.h"

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

DecoderOptions turned_options(const ConfigFile& config) {
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  return options;
}

std::vector<std::int64_t> qwen_windows(const ConfigFile& config, std::int64_t layers) {
  constexpr std::int64_t kWindow = 4096;
  constexpr std::int64_t kFirst = 28;
  const std::optional<std::int64_t> window = window_in(config, kWindow);
  const std::int64_t first = config.integer("max_window_layers", kFirst);
  const bool has_windows = config.flag("use_sliding_window", false) && window;
  const auto windows = windows_in(config, layers, window.value_or(0), [&](std::int64_t n) { return n >= first; });
  return has_windows ? windows : std::vector<std::int64_t>();
}

DecoderOptions qwen_options(const ConfigFile& config) {
  constexpr std::int64_t kKvHeads = 32;
  DecoderOptions options = turned_options(config);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  options.choices.windows = qwen_windows(config, options.layers);
  return options;
}

Model::Network llama_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = turned_options(config);
  options.bias = config.flag("attention_bias", false);
  options.choices.feed_forward_bias = config.flag("mlp_bias", false);
  return Decoder(options, init, dtype);
}

// All layers alike; where its config has layer_types, `transformers` takes it for a Ministral, whose windows are those
// of the sliding ones.
Model::Network mistral_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 8;
  constexpr std::int64_t kWindow = 4096;
  DecoderOptions options = turned_options(config);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  const std::optional<std::int64_t> window = window_in(config, kWindow);
  const auto windows = windows_in(config, options.layers, window.value_or(0), [](std::int64_t) { return true; });
  if (window) options.choices.windows = windows;
  return Decoder(options, init, dtype);
}

Model::Network qwen2_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = qwen_options(config);
  options.bias = true;
  options.choices.out_bias = false;
  return Decoder(options, init, dtype);
}

Model::Network qwen3_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kHeadWidth = 128;
  DecoderOptions options = qwen_options(config);
  options.bias = config.flag("attention_bias", false);
  if (!config.contains("head_dim")) options.choices.d_k = kHeadWidth;
  options.choices.qk_norm = options.choices.epsilon;
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const WeightName> llama_names() noexcept { return kLlamaNames; }

Family llama_like(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType),
                  std::span<const WeightName> names) {
  return {.type = type, .prefix = "model.", .network = network, .names = names, .unused = kLlamaUnused};
}

std::span<const Family> llama_families() {
  static const Family kFamilies[] = {
      llama_like("llama", llama_network),
      llama_like("mistral", mistral_network),
      llama_like("qwen2", qwen2_network),
      llama_like("qwen3", qwen3_network),
  };
  return kFamilies;
}

}  // namespace qkv::families
