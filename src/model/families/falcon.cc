// Falcon (Almazrouei et al. 2023): sublayers side by side, and one head of keys for all queries, or for groups of them.
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

// Norms have their names by how many there are.
constexpr WeightName kFalconNames[] = {
    {.ours = "embedding", .theirs = "word_embeddings"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.ln_attn", .otherwise = "h.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.self_attention.query_key_value", .part = 0, .fused = Fused::groups},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.self_attention.query_key_value", .part = 1, .fused = Fused::groups},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.self_attention.query_key_value", .part = 2, .fused = Fused::groups},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.self_attention.dense"},
    {.ours = "blocks.#.ln2", .theirs = "h.#.ln_mlp", .otherwise = "h.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.dense_h_to_4h"},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.dense_4h_to_h"},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
constexpr std::string_view kFalconUnused[] = {"*rotary.inv_freq", "*rotary_emb.inv_freq", "lm_head.weight"};

std::int64_t falcon_kv_heads(const ConfigFile& config, bool is_new, std::int64_t heads) {
  const bool is_shared = config.flag("multi_query", true);
  const std::int64_t kv_heads = config.has("num_kv_heads") ? config.integer("num_kv_heads") : heads;
  return is_new || !is_shared ? kv_heads : 1;
}

NormOrder falcon_order(const ConfigFile& config, bool is_new) {
  const bool is_parallel = config.flag("parallel_attn", true);
  const std::int64_t norms =
      config.has("num_ln_in_parallel_attn") ? config.integer("num_ln_in_parallel_attn") : (is_new ? 2 : 1);
  if (is_new && !is_parallel) config.refuse("parallel_attn", "true where new_decoder_architecture is");
  if (!is_parallel) return NormOrder::pre;
  if (norms != 1 && norms != 2) config.refuse("num_ln_in_parallel_attn", "1 or 2");
  return is_new && norms == 2 ? NormOrder::parallel : NormOrder::parallel_one;
}

// transformers rounds slopes and distances of Falcon's ALiBi to bf16, so that no fixed slopes are those of the model.
Model::Network falcon_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("alibi", false);
  const bool is_new = config.flag("new_decoder_architecture", false);
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_position_embeddings", 2048),
                         .layers = config.layers("num_hidden_layers"),
                         .d_model = config.integer(config.has("n_embed") ? "n_embed" : "hidden_size"),
                         .heads = config.integer("num_attention_heads"),
                         .positions = Positions::rotary,
                         .tied = config.flag("tie_word_embeddings", true),
                         .order = falcon_order(config, is_new),
                         .activation = activation_in(config, "activation", "gelu"),
                         .bias = config.flag("bias", false)};
  if (config.has("ffn_hidden_size")) options.d_ff = config.integer("ffn_hidden_size");
  options.choices.epsilon = config.number("layer_norm_epsilon", 1e-5);
  options.choices.feed_forward_bias = options.bias;
  options.choices.kv_heads = falcon_kv_heads(config, is_new, options.heads);
  read_rotary(config, options);
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> falcon_families() {
  static constexpr Family kFamilies[] = {
      {.type = "falcon",
       .prefix = "transformer.",
       .network = falcon_network,
       .names = kFalconNames,
       .unused = kFalconUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
