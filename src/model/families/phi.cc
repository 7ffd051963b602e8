// Phi (Li et al. 2023): one norm for both sublayers of a block, half of each head turns, an output map with a bias.
// Phi 3 (Abdin et al. 2024): Llama's layers, with q, k and v in one map and the gate and its input in another.
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kPhiNames[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.dense"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.fc1"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.fc2"},
    {.ours = "ln_final", .theirs = "final_layernorm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

constexpr WeightName kPhi3Names[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.qkv_proj", .part = 0, .fused = Fused::rows},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.qkv_proj", .part = 1, .fused = Fused::rows},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.qkv_proj", .part = 2, .fused = Fused::rows},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_up_proj", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.gate_up_proj", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj"},
    {.ours = "ln_final", .theirs = "norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

Model::Network phi_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr double kTurned = 0.5;
  config.require("qk_layernorm", false);
  config.require("tie_word_embeddings", false);
  DecoderOptions options = sizes_in(config);
  options.order = NormOrder::parallel_one;
  options.activation = activation_in(config, "hidden_act", "gelu_new");
  options.output_bias = true;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-5);
  options.choices.kv_heads = kv_heads_in(config, options.heads, options.heads);
  read_partial_rotary(config, options, kTurned);
  return Decoder(options, init, dtype);
}

Model::Network phi3_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = llama_options(config);
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  read_partial_rotary(config, options, 1);
  read_window(config, options);
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> phi_families() {
  static const Family kFamilies[] = {
      llama_like("phi", phi_network, kPhiNames),
      llama_like("phi3", phi3_network, kPhi3Names),
  };
  return kFamilies;
}

}  // namespace qkv::families
