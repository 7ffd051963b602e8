// BART (Lewis et al. 2020), post-norm, and mBART (Liu et al. 2020), pre-norm: an encoder and a decoder of one table,
// learned positions from the third row of theirs on, a norm over the embeddings, and a bias of the scores. Marian
// (Junczys-Dowmunt et al. 2018) is BART with sines for positions and no such norm.
#include <cmath>

#include "model/families/bart_names.h"
#include "model/families/family.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

constexpr WeightName kBartOwnNames[] = {
    {.ours = "encoder.embedding", .theirs = "encoder.embed_tokens", .otherwise = "shared"},
    {.ours = "decoder.embedding", .theirs = "decoder.embed_tokens", .otherwise = "shared"},
    {.ours = "encoder.positions", .theirs = "encoder.embed_positions", .behind_padding = true},
    {.ours = "encoder.ln_embedding", .theirs = "encoder.layernorm_embedding"},
    {.ours = "decoder.positions", .theirs = "decoder.embed_positions", .behind_padding = true},
    {.ours = "decoder.ln_embedding", .theirs = "decoder.layernorm_embedding"},
    {.ours = "decoder.output.bias", .theirs = "final_logits_bias", .change = Change::reshaped, .in_head = true},
    {.ours = "decoder.output", .theirs = "lm_head", .in_head = true},
};
constexpr auto kBartNames = joined_names(kBartOwnNames, kBartBlocks);
constexpr std::string_view kBartUnused[] = {"*shared.weight", "*encoder.embed_tokens.weight",
                                            "*decoder.embed_tokens.weight", "lm_head.weight"};

// Sines are computed; files of before have them, too.
constexpr std::string_view kMarianUnused[] = {"*shared.weight",
                                              "*encoder.embed_tokens.weight",
                                              "*decoder.embed_tokens.weight",
                                              "*encoder.embed_positions.weight",
                                              "*decoder.embed_positions.weight",
                                              "lm_head.weight"};

EncoderDecoderOptions bart_options(const ConfigFile& config, NormOrder order) {
  const std::int64_t vocabulary = config.integer("vocab_size");
  const std::int64_t length = config.integer("max_position_embeddings");
  EncoderDecoderOptions options{.source_vocabulary = vocabulary,
                                .vocabulary = vocabulary,
                                .source_length = length,
                                .length = length,
                                .encoder_layers = config.layers("encoder_layers"),
                                .layers = config.layers("decoder_layers"),
                                .d_model = config.integer("d_model"),
                                .heads = one_of_both(config, "encoder_attention_heads", "decoder_attention_heads"),
                                .d_ff = one_of_both(config, "encoder_ffn_dim", "decoder_ffn_dim"),
                                .positions = Positions::learned,
                                .order = order,
                                .activation = activation_in(config, "activation_function", "gelu"),
                                .shared = true,
                                .tied = config.flag("tie_word_embeddings", true),
                                .embedding = EmbeddingScale::normed,
                                .output_bias = true};
  if (config.flag("scale_embedding", false)) {
    options.embedding_factor = std::sqrt(static_cast<double>(options.d_model));
  }
  if (config.has("decoder_start_token_id")) options.start = config.integer("decoder_start_token_id");
  return options;
}

Model::Network bart_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("normalize_before", false);
  return EncoderDecoder(bart_options(config, NormOrder::post), init, dtype);
}

Model::Network mbart_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("normalize_before", true);
  return EncoderDecoder(bart_options(config, NormOrder::pre), init, dtype);
}

Model::Network marian_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("normalize_before", false);
  config.require("normalize_embedding", false);
  config.require("static_position_embeddings", true);
  config.require("share_encoder_decoder_embeddings", true);
  EncoderDecoderOptions options = bart_options(config, NormOrder::post);
  if (config.integer("decoder_vocab_size", options.vocabulary) != options.vocabulary) {
    config.refuse("decoder_vocab_size", "vocab_size, " + std::to_string(options.vocabulary) + ": one table for both");
  }
  options.positions = Positions::sinusoidal;
  options.choices.sines_in_halves = true;
  options.embedding = EmbeddingScale::small;
  options.start = config.integer("decoder_start_token_id", 58100);
  return EncoderDecoder(options, init, dtype);
}

constexpr Family bart_family(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType)) {
  return {.type = type,
          .prefix = "model.",
          .network = network,
          .names = kBartNames,
          .unused = kBartUnused,
          .padding = two_rows_before};
}

}  // namespace

std::span<const Family> bart_families() {
  static constexpr Family kFamilies[] = {
      bart_family("bart", bart_network),
      {.type = "marian", .prefix = "model.", .network = marian_network, .names = kBartNames, .unused = kMarianUnused},
      bart_family("mbart", mbart_network),
  };
  return kFamilies;
}

}  // namespace qkv::families
