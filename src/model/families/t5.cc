// T5 (Raffel et al. 2020) and its version 1.1: an encoder and a decoder of one table, pre-norm, scores that are not
// scaled and a bias a bucket of distances, the same in each layer.
#include <algorithm>
#include <cmath>

#include "model/families/family.h"

namespace qkv::families {
namespace {

constexpr WeightName kT5Names[] = {
    {.ours = "encoder.embedding", .theirs = "encoder.embed_tokens", .otherwise = "shared"},
    {.ours = "decoder.embedding", .theirs = "decoder.embed_tokens", .otherwise = "shared"},
    {.ours = "encoder.t5", .theirs = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias"},
    {.ours = "encoder.blocks.#.ln1", .theirs = "encoder.block.#.layer.0.layer_norm"},
    {.ours = "encoder.blocks.#.attn.q", .theirs = "encoder.block.#.layer.0.SelfAttention.q"},
    {.ours = "encoder.blocks.#.attn.k", .theirs = "encoder.block.#.layer.0.SelfAttention.k"},
    {.ours = "encoder.blocks.#.attn.v", .theirs = "encoder.block.#.layer.0.SelfAttention.v"},
    {.ours = "encoder.blocks.#.attn.out", .theirs = "encoder.block.#.layer.0.SelfAttention.o"},
    {.ours = "encoder.blocks.#.ln2", .theirs = "encoder.block.#.layer.1.layer_norm"},
    {.ours = "encoder.blocks.#.ffn.gate", .theirs = "encoder.block.#.layer.1.DenseReluDense.wi_0"},
    {.ours = "encoder.blocks.#.ffn.up",
     .theirs = "encoder.block.#.layer.1.DenseReluDense.wi_1",
     .otherwise = "encoder.block.#.layer.1.DenseReluDense.wi"},
    {.ours = "encoder.blocks.#.ffn.down", .theirs = "encoder.block.#.layer.1.DenseReluDense.wo"},
    {.ours = "encoder.ln_final", .theirs = "encoder.final_layer_norm"},
    {.ours = "decoder.t5", .theirs = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias"},
    {.ours = "decoder.blocks.#.ln1", .theirs = "decoder.block.#.layer.0.layer_norm"},
    {.ours = "decoder.blocks.#.attn.q", .theirs = "decoder.block.#.layer.0.SelfAttention.q"},
    {.ours = "decoder.blocks.#.attn.k", .theirs = "decoder.block.#.layer.0.SelfAttention.k"},
    {.ours = "decoder.blocks.#.attn.v", .theirs = "decoder.block.#.layer.0.SelfAttention.v"},
    {.ours = "decoder.blocks.#.attn.out", .theirs = "decoder.block.#.layer.0.SelfAttention.o"},
    {.ours = "decoder.blocks.#.ln_cross", .theirs = "decoder.block.#.layer.1.layer_norm"},
    {.ours = "decoder.blocks.#.cross.q", .theirs = "decoder.block.#.layer.1.EncDecAttention.q"},
    {.ours = "decoder.blocks.#.cross.k", .theirs = "decoder.block.#.layer.1.EncDecAttention.k"},
    {.ours = "decoder.blocks.#.cross.v", .theirs = "decoder.block.#.layer.1.EncDecAttention.v"},
    {.ours = "decoder.blocks.#.cross.out", .theirs = "decoder.block.#.layer.1.EncDecAttention.o"},
    {.ours = "decoder.blocks.#.ln2", .theirs = "decoder.block.#.layer.2.layer_norm"},
    {.ours = "decoder.blocks.#.ffn.gate", .theirs = "decoder.block.#.layer.2.DenseReluDense.wi_0"},
    {.ours = "decoder.blocks.#.ffn.up",
     .theirs = "decoder.block.#.layer.2.DenseReluDense.wi_1",
     .otherwise = "decoder.block.#.layer.2.DenseReluDense.wi"},
    {.ours = "decoder.blocks.#.ffn.down", .theirs = "decoder.block.#.layer.2.DenseReluDense.wo"},
    {.ours = "decoder.ln_final", .theirs = "decoder.final_layer_norm"},
    {.ours = "decoder.output", .theirs = "lm_head", .otherwise = "shared"},
};
// The table once more, and a bias of cross-attention that the first checkpoints have and no program reads.
constexpr std::string_view kT5Unused[] = {"*shared.weight", "*encoder.embed_tokens.weight",
                                          "*decoder.embed_tokens.weight", "*lm_head.weight",
                                          "*EncDecAttention.relative_attention_bias.weight"};

// "relu", or "gated-gelu", which means the approximation by tanh. Its two parts stand in newer configs once more, and
// go before it.
void read_feed_forward(const ConfigFile& config, std::string_view otherwise, EncoderDecoderOptions& options) {
  constexpr std::string_view kGated = "gated-";
  constexpr std::string_view kWord = "feed_forward_proj";
  const std::string name = config.text(kWord, otherwise);
  const bool is_gated = name.starts_with(kGated);
  const std::string inner = is_gated ? name.substr(kGated.size()) : name;
  const ConfigFile plain = config.with(kWord, name == "gated-gelu" ? "gelu_new" : inner);
  options.activation = activation_in(config.has("dense_act_fn") ? config : plain,
                                     config.has("dense_act_fn") ? "dense_act_fn" : kWord, "relu");
  if (config.flag("is_gated_act", is_gated)) options.choices.feed_forward = FeedForwardKind::gated;
}

// Of tied ones the states are scaled before the scores; configs that `transformers` 5 writes say that by itself, and
// `tied` of all.
bool scales_output(const ConfigFile& config) {
  return config.flag("scale_decoder_outputs", config.flag("tie_word_embeddings", true));
}

// What T5 and mT5 say alike, tied and without a scale of the states.
EncoderDecoderOptions t5_options(const ConfigFile& file, std::string_view feed_forward) {
  const ConfigFile config = file.renamed("num_layers", "num_hidden_layers")
                                .renamed("d_model", "hidden_size")
                                .renamed("num_heads", "num_attention_heads")
                                .renamed("d_kv", "head_dim");
  static_cast<void>(config.flag("is_encoder_decoder", true));  // false of an encoder alone, as its weights are
  const std::int64_t vocabulary = config.integer("vocab_size");
  const std::int64_t layers = config.layers("num_layers");
  EncoderDecoderOptions options{.source_vocabulary = vocabulary,
                                .vocabulary = vocabulary,
                                .encoder_layers = layers,
                                .layers = config.layers("num_decoder_layers", layers),
                                .d_model = config.integer("d_model"),
                                .heads = config.integer("num_heads"),
                                .d_ff = config.integer("d_ff"),
                                .positions = Positions::t5,
                                .order = NormOrder::pre,
                                .bias = false,
                                .shared = true,
                                .tied = true};
  options.choices = {.norm = NormKind::rms,
                     .epsilon = config.number("layer_norm_epsilon", 1e-6),
                     .feed_forward_bias = false,
                     .d_k = config.integer("d_kv"),
                     .scale = 1,
                     .t5_buckets = config.integer("relative_attention_num_buckets", 32),
                     .t5_max_distance = config.integer("relative_attention_max_distance", 128)};
  if (config.has("decoder_start_token_id")) options.start = config.integer("decoder_start_token_id");
  read_feed_forward(config, feed_forward, options);
  return options;
}

Model::Network t5_network(const ConfigFile& config, const Init& init, DType dtype) {
  EncoderDecoderOptions options = t5_options(config, "relu");
  options.tied = scales_output(config);
  if (options.tied) options.output_scale = 1 / std::sqrt(static_cast<double>(options.d_model));
  return EncoderDecoder(options, init, dtype);
}

// T5 of version 1.1 for 101 languages (Xue et al. 2021), whose states are never scaled.
Model::Network mt5_network(const ConfigFile& config, const Init& init, DType dtype) {
  return EncoderDecoder(t5_options(config, "gated-gelu"), init, dtype);
}

}  // namespace

std::span<const Family> t5_families() {
  static constexpr Family kFamilies[] = {
      {.type = "t5", .prefix = "", .network = t5_network, .names = kT5Names, .unused = kT5Unused},
      {.type = "mt5", .prefix = "", .network = mt5_network, .names = kT5Names, .unused = kT5Unused},
  };
  return kFamilies;
}

}  // namespace qkv::families
