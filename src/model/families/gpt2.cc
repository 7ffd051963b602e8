// GPT-2 (Radford et al. 2019): pre-norm, learned positions, maps stored as [in, out], q, k and v in one.
#include "model/families/family.h"
#include "model/families/gpt_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kGpt2Names[] = {
    {.ours = "embedding", .theirs = "wte"},
    {.ours = "positions", .theirs = "wpe"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.ln_1"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.attn.c_attn", .change = Change::transposed, .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.attn.c_attn", .change = Change::transposed, .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.attn.c_attn", .change = Change::transposed, .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.attn.c_proj", .change = Change::transposed},
    {.ours = "blocks.#.ln2", .theirs = "h.#.ln_2"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.c_fc", .change = Change::transposed},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.c_proj", .change = Change::transposed},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
// The causal mask, stored, and the table once more.
constexpr std::string_view kGpt2Unused[] = {"*.attn.bias", "*.attn.masked_bias", "lm_head.weight"};

Model::Network gpt2_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = in_words_of_gpt2(file);
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  DecoderOptions options = gpt_options(config, Positions::learned);
  options.tied = config.flag("tie_word_embeddings", true);
  options.activation = activation_in(config, "activation_function", "gelu_new");
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> gpt2_families() {
  static constexpr Family kFamilies[] = {
      {.type = "gpt2", .prefix = "transformer.", .network = gpt2_network, .names = kGpt2Names, .unused = kGpt2Unused},
  };
  return kFamilies;
}

}  // namespace qkv::families
