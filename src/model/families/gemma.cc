// Gemma (Gemma Team 2024 and 2025): Llama's layers with embeddings times sqrt(d_model), RMSNorms of gain 1 + w and
// GeGLU; from Gemma 2 on norms on both sides of each sublayer and windows in some layers.
#include <cmath>

#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

// With norms on both sides, what was the norm before the feed-forward layer is that after attention.
constexpr WeightName kGemma2Names[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.q_norm", .theirs = "layers.#.self_attn.q_norm"},
    {.ours = "blocks.#.attn.k_norm", .theirs = "layers.#.self_attn.k_norm"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.attn_norm", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.pre_feedforward_layernorm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_proj"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.up_proj"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj"},
    {.ours = "blocks.#.ffn_norm", .theirs = "layers.#.post_feedforward_layernorm"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

// Above 0, or null: none.
std::optional<double> cap_in(const ConfigFile& config, std::string_view word, std::optional<double> otherwise) {
  const std::optional<double> cap = config.number_or_null(word, otherwise);
  if (cap && *cap <= 0) config.refuse(word, "more than 0, or null");
  return cap;
}

// `kv_heads` where the config says none.
DecoderOptions gemma_options(const ConfigFile& config, std::int64_t kv_heads) {
  config.require("use_bidirectional_attention", false);
  DecoderOptions options = llama_options(config);
  options.embedding = EmbeddingScale::root_width;
  options.bias = config.flag("attention_bias", false);
  options.tied = config.flag("tie_word_embeddings", true);
  options.choices.norm = NormKind::rms_plus_one;
  options.choices.kv_heads = kv_heads_in(config, options.heads, kv_heads);
  options.choices.d_k = config.integer("head_dim", 256);
  return options;
}

// Configs of the first release say "gelu" and mean its approximation by tanh, which is what it was trained with.
Model::Network gemma_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = gemma_options(config, 16);
  read_rotary(config, options);
  config.require("hidden_activation", "gelu_pytorch_tanh");
  const bool is_legacy = config.text("hidden_act", "gelu") == "gelu";
  options.activation = is_legacy ? Activation::gelu_tanh : activation_in(config, "hidden_act", "gelu_pytorch_tanh");
  return Decoder(options, init, dtype);
}

// Every layer but each `pattern`-th is local.
DecoderOptions gemma2_options(const ConfigFile& config, std::int64_t pattern) {
  DecoderOptions options = gemma_options(config, 4);
  options.order = NormOrder::both;
  options.activation = activation_in(config, "hidden_activation", "gelu_pytorch_tanh");
  const double scalar = config.number("query_pre_attn_scalar", 256);
  if (scalar <= 0) config.refuse("query_pre_attn_scalar", "more than 0");
  options.choices.scale = 1 / std::sqrt(scalar);
  if (pattern < 1) config.refuse("sliding_window_pattern", "1 or more");
  const std::int64_t window = config.contains("sliding_window") ? config.integer("sliding_window") : 4096;
  options.choices.windows =
      windows_in(config, options.layers, window, [&](std::int64_t n) { return (n + 1) % pattern != 0; });
  return options;
}

Model::Network gemma2_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = gemma2_options(config, 2);
  read_rotary(config, options);
  options.choices.softcap = cap_in(config, "attn_logit_softcapping", 50);
  options.logit_softcap = cap_in(config, "final_logit_softcapping", 30);
  return Decoder(options, init, dtype);
}

Model::Network gemma3_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = gemma2_options(config, config.integer("sliding_window_pattern", 6));
  if (config.has("attn_logit_softcapping")) config.refuse("attn_logit_softcapping", "null, for scores without a cap");
  options.logit_softcap = cap_in(config, "final_logit_softcapping", std::nullopt);
  options.choices.qk_norm = options.choices.epsilon;
  read_rotary_of_types(config, options.length, options.choices,
                       {.full_word = "rope_theta", .full = 1e6, .local_word = "rope_local_base_freq", .local = 1e4});
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> gemma_families() {
  static const Family kFamilies[] = {
      llama_like("gemma", gemma_network),
      llama_like("gemma2", gemma2_network, kGemma2Names),
      llama_like("gemma3_text", gemma3_network, kGemma2Names),
  };
  return kFamilies;
}

}  // namespace qkv::families
