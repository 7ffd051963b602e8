// Whisper (Radford et al. 2022): BART before norms, of which keys have no bias, over two convolutions of a spectrogram.
#include "model/families/family.h"

namespace qkv::families {
namespace {

constexpr WeightName kWhisperNames[] = {
    {.ours = "encoder.conv1.weight", .theirs = "encoder.conv1.weight", .change = Change::reshaped},
    {.ours = "encoder.conv1.bias", .theirs = "encoder.conv1.bias"},
    {.ours = "encoder.conv2.weight", .theirs = "encoder.conv2.weight", .change = Change::reshaped},
    {.ours = "encoder.conv2.bias", .theirs = "encoder.conv2.bias"},
    {.ours = "encoder.positions", .theirs = "encoder.embed_positions"},
    {.ours = "encoder.blocks.#.attn.q", .theirs = "encoder.layers.#.self_attn.q_proj"},
    {.ours = "encoder.blocks.#.attn.k", .theirs = "encoder.layers.#.self_attn.k_proj"},
    {.ours = "encoder.blocks.#.attn.v", .theirs = "encoder.layers.#.self_attn.v_proj"},
    {.ours = "encoder.blocks.#.attn.out", .theirs = "encoder.layers.#.self_attn.out_proj"},
    {.ours = "encoder.blocks.#.ln1", .theirs = "encoder.layers.#.self_attn_layer_norm"},
    {.ours = "encoder.blocks.#.ffn.up", .theirs = "encoder.layers.#.fc1"},
    {.ours = "encoder.blocks.#.ffn.down", .theirs = "encoder.layers.#.fc2"},
    {.ours = "encoder.blocks.#.ln2", .theirs = "encoder.layers.#.final_layer_norm"},
    {.ours = "encoder.ln_final", .theirs = "encoder.layer_norm"},
    {.ours = "decoder.embedding", .theirs = "decoder.embed_tokens"},
    {.ours = "decoder.positions", .theirs = "decoder.embed_positions"},
    {.ours = "decoder.blocks.#.attn.q", .theirs = "decoder.layers.#.self_attn.q_proj"},
    {.ours = "decoder.blocks.#.attn.k", .theirs = "decoder.layers.#.self_attn.k_proj"},
    {.ours = "decoder.blocks.#.attn.v", .theirs = "decoder.layers.#.self_attn.v_proj"},
    {.ours = "decoder.blocks.#.attn.out", .theirs = "decoder.layers.#.self_attn.out_proj"},
    {.ours = "decoder.blocks.#.ln1", .theirs = "decoder.layers.#.self_attn_layer_norm"},
    {.ours = "decoder.blocks.#.cross.q", .theirs = "decoder.layers.#.encoder_attn.q_proj"},
    {.ours = "decoder.blocks.#.cross.k", .theirs = "decoder.layers.#.encoder_attn.k_proj"},
    {.ours = "decoder.blocks.#.cross.v", .theirs = "decoder.layers.#.encoder_attn.v_proj"},
    {.ours = "decoder.blocks.#.cross.out", .theirs = "decoder.layers.#.encoder_attn.out_proj"},
    {.ours = "decoder.blocks.#.ln_cross", .theirs = "decoder.layers.#.encoder_attn_layer_norm"},
    {.ours = "decoder.blocks.#.ffn.up", .theirs = "decoder.layers.#.fc1"},
    {.ours = "decoder.blocks.#.ffn.down", .theirs = "decoder.layers.#.fc2"},
    {.ours = "decoder.blocks.#.ln2", .theirs = "decoder.layers.#.final_layer_norm"},
    {.ours = "decoder.ln_final", .theirs = "decoder.layer_norm"},
    {.ours = "decoder.output", .theirs = "proj_out", .in_head = true},
};
constexpr std::string_view kWhisperUnused[] = {"proj_out.weight"};

Model::Network whisper_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("scale_embedding", false);
  const auto of_both = [&](const char* encoder, const char* decoder, std::int64_t usual) {
    const std::int64_t size = config.integer(encoder, usual);
    if (config.integer(decoder, usual) != size)
      config.refuse(decoder, std::string(encoder) + ", " + std::to_string(size));
    return size;
  };
  TranscriberOptions options{.bins = config.integer("num_mel_bins", 80),
                             .frames = 2 * config.integer("max_source_positions", 1500),
                             .vocabulary = config.integer("vocab_size", 51865),
                             .length = config.integer("max_target_positions", 448),
                             .encoder_layers = config.layers("encoder_layers", 4),
                             .layers = config.layers("decoder_layers", 4),
                             .d_model = config.integer("d_model", 384),
                             .heads = of_both("encoder_attention_heads", "decoder_attention_heads", 6),
                             .d_ff = of_both("encoder_ffn_dim", "decoder_ffn_dim", 1536),
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
