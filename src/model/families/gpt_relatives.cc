// Relatives of GPT-2: GPT-J (Wang and Komatsuzaki 2021), with sublayers side by side and turned neighbours; GPT-Neo
// (Black et al. 2021), whose scores are not scaled and whose every second layer sees a window; SantaCoder and StarCoder
// (Li et al. 2023), with one head of keys; OPT (Zhang et al. 2022), with positions from the third row of their table
// on.
#include <string>
#include <vector>

#include "model/families/family.h"
#include "model/families/gpt_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kGptjNames[] = {
    {.ours = "embedding", .theirs = "wte"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.ln_1"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.attn.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.attn.out_proj"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.fc_in"},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.fc_out"},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
constexpr WeightName kGptNeoNames[] = {
    {.ours = "embedding", .theirs = "wte"},
    {.ours = "positions", .theirs = "wpe"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.ln_1"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.attn.attention.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.attn.attention.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.attn.attention.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.attn.attention.out_proj"},
    {.ours = "blocks.#.ln2", .theirs = "h.#.ln_2"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.c_fc"},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.c_proj"},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
// Of one head of keys q comes first, of many each head has its own q, k and v: the same rows.
constexpr WeightName kGptBigcodeNames[] = {
    {.ours = "embedding", .theirs = "wte"},
    {.ours = "positions", .theirs = "wpe"},
    {.ours = "blocks.#.ln1", .theirs = "h.#.ln_1"},
    {.ours = "blocks.#.attn.q", .theirs = "h.#.attn.c_attn", .part = 0, .fused = Fused::groups},
    {.ours = "blocks.#.attn.k", .theirs = "h.#.attn.c_attn", .part = 1, .fused = Fused::groups},
    {.ours = "blocks.#.attn.v", .theirs = "h.#.attn.c_attn", .part = 2, .fused = Fused::groups},
    {.ours = "blocks.#.attn.out", .theirs = "h.#.attn.c_proj"},
    {.ours = "blocks.#.ln2", .theirs = "h.#.ln_2"},
    {.ours = "blocks.#.ffn.up", .theirs = "h.#.mlp.c_fc"},
    {.ours = "blocks.#.ffn.down", .theirs = "h.#.mlp.c_proj"},
    {.ours = "ln_final", .theirs = "ln_f"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
constexpr WeightName kOptNames[] = {
    {.ours = "embedding", .theirs = "embed_tokens"},
    {.ours = "positions", .theirs = "embed_positions", .behind_padding = true},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.self_attn_layer_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.out_proj"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.final_layer_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.fc1"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.fc2"},
    {.ours = "ln_final", .theirs = "final_layer_norm"},
    {.ours = "output", .theirs = "lm_head", .in_head = true},
};
// Causal masks and frequencies, stored, and the table once more.
constexpr std::string_view kRelativesUnused[] = {"*.attn.bias",       "*.attn.masked_bias",
                                                 "*.attention.bias",  "*.attention.masked_bias",
                                                 "*.embed_positions", "lm_head.weight"};

Model::Network gptj_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = in_words_of_gpt2(file);
  DecoderOptions options = gpt_options(config, Positions::rotary);
  config.require("tie_word_embeddings", false);
  options.tied = false;
  options.order = NormOrder::parallel_one;
  options.activation = activation_in(config, "activation_function", "gelu_new");
  options.bias = false;
  options.output_bias = true;
  options.choices.rotary_dim = config.integer("rotary_dim", 64);
  options.choices.rotary_layout = RotaryLayout::interleaved;
  return Decoder(options, init, dtype);
}

// [[["global", "local"], 6]]: the types of layers and how often they are repeated.
std::vector<std::int64_t> gpt_neo_windows(const ConfigFile& config, std::int64_t layers) {
  constexpr std::string_view kTypes = "attention_types";
  constexpr std::string_view kPattern = R"([[["global", "local"], layers / 2]], or [[["global"], layers]])";
  const std::int64_t window = config.integer("window_size", 256);
  if (window < 1) config.refuse("window_size", "1 or more");
  config.mark_read(kTypes);
  std::string types = config.has(kTypes) ? config.shown(kTypes) : "";
  std::erase(types, ' ');
  if (types == R"([[["global"],)" + std::to_string(layers) + "]]") return {};
  const bool is_usual = types.empty() || types == R"([[["global","local"],)" + std::to_string(layers / 2) + "]]";
  if (layers % 2 != 0 || !is_usual) config.refuse(kTypes, kPattern);
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  for (std::size_t n = 1; n < windows.size(); n += 2) windows[n] = window;
  return windows;
}

Model::Network gpt_neo_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = file.renamed("num_layers", "num_hidden_layers").renamed("num_heads", "num_attention_heads");
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_position_embeddings"),
                         .layers = config.layers("num_layers"),
                         .d_model = config.integer("hidden_size"),
                         .heads = config.integer("num_heads"),
                         .positions = Positions::learned,
                         .tied = config.flag("tie_word_embeddings", true),
                         .activation = activation_in(config, "activation_function", "gelu_new"),
                         .bias = false};
  if (config.has("intermediate_size")) options.d_ff = config.integer("intermediate_size");
  options.choices.epsilon = config.number("layer_norm_epsilon", 1e-5);
  options.choices.out_bias = true;
  options.choices.scale = 1;
  options.choices.windows = gpt_neo_windows(config, options.layers);
  return Decoder(options, init, dtype);
}

Model::Network gpt_bigcode_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = in_words_of_gpt2(file);
  config.require("scale_attn_weights", true);
  config.require("add_cross_attention", false);
  DecoderOptions options = gpt_options(config, Positions::learned);
  options.tied = config.flag("tie_word_embeddings", true);
  options.activation = activation_in(config, "activation_function", "gelu_pytorch_tanh");
  if (config.flag("multi_query", true)) options.choices.kv_heads = 1;
  return Decoder(options, init, dtype);
}

Model::Network opt_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("do_layer_norm_before", true);
  config.require("_remove_final_layer_norm", false);
  config.require("enable_bias", true);
  config.require("layer_norm_elementwise_affine", true);
  const std::int64_t width = config.integer("hidden_size");
  if (config.has("word_embed_proj_dim") && config.integer("word_embed_proj_dim") != width) {
    config.refuse("word_embed_proj_dim", "hidden_size, " + std::to_string(width));
  }
  const DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                               .length = config.integer("max_position_embeddings"),
                               .layers = config.layers("num_hidden_layers"),
                               .d_model = width,
                               .heads = config.integer("num_attention_heads"),
                               .d_ff = config.integer("ffn_dim"),
                               .positions = Positions::learned,
                               .tied = config.flag("tie_word_embeddings", true),
                               .activation = activation_in(config, "activation_function", "relu")};
  return Decoder(options, init, dtype);
}

constexpr Family gpt_family(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType),
                            std::span<const WeightName> names) {
  return {.type = type, .prefix = "transformer.", .network = network, .names = names, .unused = kRelativesUnused};
}

}  // namespace

std::span<const Family> relatives_of_gpt() {
  static constexpr Family kFamilies[] = {
      gpt_family("gptj", gptj_network, kGptjNames),
      gpt_family("gpt_neo", gpt_neo_network, kGptNeoNames),
      gpt_family("gpt_bigcode", gpt_bigcode_network, kGptBigcodeNames),
      {.type = "opt",
       .prefix = "model.decoder.",
       .network = opt_network,
       .names = kOptNames,
       .unused = kRelativesUnused,
       .padding = two_rows_before},
  };
  return kFamilies;
}

}  // namespace qkv::families
