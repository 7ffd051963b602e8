// ModernBERT (Warner et al. 2024): pre-norm, rotary positions, GeGLU and no biases; two of three layers see a window,
// and turn by a base of their own.
#include <optional>

#include "model/families/bert_options.h"
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kModernbertNames[] = {
    {.ours = "embedding", .theirs = "embeddings.tok_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.norm"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.attn.Wqkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.attn.Wqkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.attn.Wqkv", .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.attn.Wo"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.mlp_norm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.Wi", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.Wi", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.Wo"},
    {.ours = "ln_final", .theirs = "final_norm"},
    {.ours = "head.dense", .theirs = "head.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "head.norm", .in_head = true},
    {.ours = "head", .theirs = "decoder", .in_head = true},
    {.ours = "output", .theirs = "decoder", .in_head = true},
};
constexpr std::string_view kModernbertUnused[] = {"decoder.weight"};

// A window of local_attention keys is half of them on each side, and the query's own.
std::vector<std::int64_t> modernbert_windows(const ConfigFile& config, std::int64_t layers) {
  const std::int64_t every = config.integer("global_attn_every_n_layers", 3);
  if (every < 1) config.refuse("global_attn_every_n_layers", "1 or more");
  const std::int64_t window = config.integer("local_attention", 128) / 2 + 1;
  return windows_in(config, layers, window, [&](std::int64_t n) { return n % every != 0; });
}

Model::Network modernbert_network(const ConfigFile& config, const Init& init, DType dtype) {
  EncoderOptions options = encoder_sizes(config);
  options.positions = Positions::rotary;
  options.order = NormOrder::pre;
  options.activation = activation_in(config, "hidden_activation", "gelu");
  options.bias = config.flag("attention_bias", false);
  options.head_activation = activation_in(config, "classifier_activation", "gelu");
  options.head_map_bias = config.flag("classifier_bias", false);
  options.head_bias = config.flag("decoder_bias", true);
  const bool has_biases = config.flag("norm_bias", false);
  options.choices = {.norm = has_biases ? NormKind::layer : NormKind::layer_without_bias,
                     .epsilon = config.number("norm_eps", 1e-5),
                     .feed_forward = FeedForwardKind::gated,
                     .feed_forward_bias = config.flag("mlp_bias", false),
                     .windows = modernbert_windows(config, options.layers),
                     .first_norm = false};
  read_rotary_of_types(config, options.length, options.choices,
                       {.full_word = "global_rope_theta",
                        .full = 160000,
                        .local_word = "local_rope_theta",
                        .local = 10000,
                        .scales_both = true});
  return Encoder(options, init, dtype);
}

}  // namespace

std::span<const Family> modernbert_families() {
  static constexpr Family kFamilies[] = {
      {.type = "modernbert",
       .prefix = "model.",
       .network = modernbert_network,
       .names = kModernbertNames,
       .unused = kModernbertUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
