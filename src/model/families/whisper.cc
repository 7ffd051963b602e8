// Whisper (Radford et al. 2022): BART before norms, of which keys have no bias, over two convolutions of a spectrogram.
#include "model/families/bart_names.h"
#include "model/families/family.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

constexpr WeightName kWhisperOwnNames[] = {
    {.ours = "encoder.conv1.weight", .theirs = "encoder.conv1.weight", .change = Change::reshaped},
    {.ours = "encoder.conv1.bias", .theirs = "encoder.conv1.bias"},
    {.ours = "encoder.conv2.weight", .theirs = "encoder.conv2.weight", .change = Change::reshaped},
    {.ours = "encoder.conv2.bias", .theirs = "encoder.conv2.bias"},
    {.ours = "encoder.positions", .theirs = "encoder.embed_positions"},
    {.ours = "decoder.embedding", .theirs = "decoder.embed_tokens"},
    {.ours = "decoder.positions", .theirs = "decoder.embed_positions"},
    {.ours = "decoder.output", .theirs = "proj_out", .in_head = true},
};
constexpr auto kWhisperNames = joined_names(kWhisperOwnNames, kBartBlocks);
constexpr std::string_view kWhisperUnused[] = {"proj_out.weight"};

Model::Network whisper_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("scale_embedding", false);
  TranscriberOptions options{.bins = config.integer("num_mel_bins", 80),
                             .frames = kFramesOfAPlace * config.integer("max_source_positions", 1500),
                             .vocabulary = config.integer("vocab_size", 51865),
                             .length = config.integer("max_target_positions", 448),
                             .encoder_layers = config.layers("encoder_layers", 4),
                             .layers = config.layers("decoder_layers", 4),
                             .d_model = config.integer("d_model", 384),
                             .heads = one_of_both(config, "encoder_attention_heads", "decoder_attention_heads", 6),
                             .d_ff = one_of_both(config, "encoder_ffn_dim", "decoder_ffn_dim", 1536),
                             .activation = activation_in(config, "activation_function", "gelu"),
                             .tied = config.flag("tie_word_embeddings", true),
                             .start = config.integer("decoder_start_token_id", 50257)};
  options.choices.key_bias = false;
  return Transcriber(options, init, dtype);
}

}  // namespace

std::span<const Family> whisper_families() {
  static constexpr Family kFamilies[] = {
      {.type = "whisper",
       .prefix = "model.",
       .network = whisper_network,
       .names = kWhisperNames,
       .unused = kWhisperUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
