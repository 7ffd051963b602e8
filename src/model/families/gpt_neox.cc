// GPT-NeoX (Black et al. 2022), Pythia: both sublayers read what reaches the block, a quarter of each head turns.
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kNeoxNames[] = {
    {.ours = "embedding", .theirs = "embed_in"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.attention.query_key_value", .part = 0, .fused = Fused::groups},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.attention.query_key_value", .part = 1, .fused = Fused::groups},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.attention.query_key_value", .part = 2, .fused = Fused::groups},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.attention.dense"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.dense_h_to_4h"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.dense_4h_to_h"},
    {.ours = "ln_final", .theirs = "final_layer_norm"},
    {.ours = "output", .theirs = "embed_out", .otherwise = "lm_head", .in_head = true},
};
// The causal mask and frequencies, stored.
constexpr std::string_view kNeoxUnused[] = {"*.attention.bias", "*.attention.masked_bias", "*rotary_emb.inv_freq",
                                            "embed_out.weight", "lm_head.weight"};

Model::Network gpt_neox_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr double kTurned = 0.25;
  DecoderOptions options = sizes_in(config);
  options.activation = activation_in(config, "hidden_act", "gelu");
  options.bias = config.flag("attention_bias", true);
  const bool is_parallel = config.flag("use_parallel_residual", true);
  options.order = is_parallel ? NormOrder::parallel : NormOrder::pre;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-5);
  read_partial_rotary(config, options, kTurned, {.base = "rotary_emb_base", .part = "rotary_pct"});
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> gpt_neox_families() {
  static constexpr Family kFamilies[] = {
      {.type = "gpt_neox",
       .prefix = "gpt_neox.",
       .network = gpt_neox_network,
       .names = kNeoxNames,
       .unused = kNeoxUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
