// Models whose scores fall with the distance (ALiBi, Press et al. 2022): BLOOM (BigScience 2022), with a norm over its
// embeddings, and MPT (MosaicML 2023), without any bias.
#include <bit>
#include <cmath>

#include "model/families/family.h"

namespace qkv::families {
namespace {

constexpr WeightName kBloomNames[] = {
    {.ours = "embedding", .theirs = "word_embeddings"},
    {.ours = "ln_embedding", .theirs = "word_embeddings_layernorm"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.input_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.self_attention.query_key_value", .part = 0, .fused = Fused::groups},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.self_attention.query_key_value", .part = 1, .fused = Fused::groups},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.self_attention.query_key_value", .part = 2, .fused = Fused::groups},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.self_attention.dense"},
    {.ours = "blocks.#.ln2", .theirs = "h.#.post_attention_layernorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.dense_h_to_4h"},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.dense_4h_to_h"},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
constexpr std::string_view kBloomUnused[] = {"lm_head.weight"};

constexpr WeightName kMptNames[] = {
    {.ours = "embedding", .theirs = "wte"},
    {.ours = "blocks.#.ln1", .theirs = "blocks.#.norm_1"},
    {.ours = "blocks.#.attn.q", .theirs = "blocks.#.attn.Wqkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "blocks.#.attn.Wqkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "blocks.#.attn.Wqkv", .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "blocks.#.attn.out_proj"},
    {.ours = "blocks.#.ln2", .theirs = "blocks.#.norm_2"},
    {.ours = "blocks.#.ffn.up", .theirs = "blocks.#.ffn.up_proj"},
    {.ours = "blocks.#.ffn.down", .theirs = "blocks.#.ffn.down_proj"},
    {.ours = "ln_final", .theirs = "norm_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};

Model::Network bloom_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = file.renamed("n_layer", "num_hidden_layers").renamed("n_head", "num_attention_heads");
  constexpr std::int64_t kLength = 2048;  // of the texts in its training, which its config does not say
  config.require("apply_residual_connection_post_layernorm", false);
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("seq_length", kLength),
                         .layers = config.layers("n_layer"),
                         .d_model = config.integer(config.has("n_embed") ? "n_embed" : "hidden_size"),
                         .heads = config.integer("n_head"),
                         .positions = Positions::alibi,
                         .tied = config.flag("tie_word_embeddings", true),
                         .embedding = EmbeddingScale::normed,
                         .activation = Activation::gelu_tanh};
  options.choices.epsilon = config.number("layer_norm_epsilon", 1e-5);
  return Decoder(options, init, dtype);
}

// Of a number of heads that is no power of 2: every second slope of the next power, then the others.
std::vector<double> mpt_slopes(std::int64_t heads) {
  constexpr double kLargest = 8;
  const std::uint64_t whole = std::bit_ceil(static_cast<std::uint64_t>(heads));
  const auto slope = [&](std::uint64_t n) {
    return std::exp2(-kLargest * static_cast<double>(n) / static_cast<double>(whole));
  };
  std::vector<double> slopes;
  const bool is_power = whole == static_cast<std::uint64_t>(heads);
  if (is_power) {
    for (std::uint64_t n = 1; n <= whole; ++n) slopes.push_back(slope(n));
    return slopes;
  }
  for (std::uint64_t n = 2; n <= whole; n += 2) slopes.push_back(slope(n));
  for (std::uint64_t n = 1; n <= whole; n += 2) slopes.push_back(slope(n));
  slopes.resize(static_cast<std::size_t>(heads));
  return slopes;
}

// What `transformers` does not compute, though a config may ask for it, is refused.
void require_usual_attention(const ConfigFile& attention) {
  attention.require("attn_type", "multihead_attention");
  attention.require("clip_qkv", nullptr);
  attention.require("prefix_lm", false);
  attention.require("qk_ln", false);
  attention.require("attn_uses_sequence_id", false);
  attention.require("alibi", true);
  attention.require("alibi_bias_max", 8);
  for (const std::string_view word : {"attn_impl", "attn_pdrop"}) attention.mark_read(word);
}

Model::Network mpt_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = file.renamed("n_layers", "num_hidden_layers")
                                .renamed("n_heads", "num_attention_heads")
                                .renamed("d_model", "hidden_size");
  config.require("no_bias", true);
  config.require("expansion_ratio", 4);
  config.require("logit_scale", nullptr);
  const ConfigFile attention = config.object_or_none("attn_config");
  require_usual_attention(attention);
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_seq_len"),
                         .layers = config.layers("n_layers"),
                         .d_model = config.integer("d_model"),
                         .heads = config.integer("n_heads"),
                         .positions = Positions::alibi,
                         .tied = config.flag("tie_word_embeddings", true),
                         .activation = Activation::gelu,
                         .bias = false};
  options.choices.norm = NormKind::layer_without_bias;
  options.choices.epsilon = config.number("layer_norm_epsilon", 1e-5);
  options.choices.feed_forward_bias = false;
  constexpr std::int64_t kMostHeads = 65536;  // a slope for each is kept
  if (options.heads < 1 || options.heads > kMostHeads) config.refuse("n_heads", "from 1 to 65536");
  options.choices.alibi_slopes = mpt_slopes(options.heads);
  if (attention.has("softmax_scale")) options.choices.scale = attention.number("softmax_scale");
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> bloom_families() {
  static constexpr Family kFamilies[] = {
      {.type = "bloom",
       .prefix = "transformer.",
       .network = bloom_network,
       .names = kBloomNames,
       .unused = kBloomUnused},
      {.type = "mpt", .prefix = "transformer.", .network = mpt_network, .names = kMptNames, .unused = kBloomUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
