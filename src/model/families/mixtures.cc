// Families whose feed-forward layers are a choice of experts: Mixtral (Jiang et al. 2024), Qwen's (Yang et al. 2024),
// OLMoE (Muennighoff et al. 2024), gpt-oss (OpenAI 2025), Granite MoE (IBM 2024) and Phi 3.5 MoE (Abdin et al. 2024).
#include <vector>

#include "model/families/expert_options.h"
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

// Files of before `transformers` 5 have a tensor for each map of an expert, later ones may have those of all in one.
constexpr WeightName kMixtralExperts[] = {
    {.ours = "blocks.#.ffn.router", .theirs = "layers.#.block_sparse_moe.gate", .otherwise = "layers.#.mlp.gate"},
    {.ours = "blocks.#.ffn.experts.@.gate", .theirs = "layers.#.block_sparse_moe.experts.@.w1"},
    {.ours = "blocks.#.ffn.experts.@.up", .theirs = "layers.#.block_sparse_moe.experts.@.w3"},
    {.ours = "blocks.#.ffn.experts.@.down", .theirs = "layers.#.block_sparse_moe.experts.@.w2"},
};
constexpr WeightName kPhimoeRouter[] = {
    {.ours = "blocks.#.ffn.router", .theirs = "layers.#.block_sparse_moe.gate", .otherwise = "layers.#.mlp.router"},
};
constexpr WeightName kQwenExperts[] = {
    {.ours = "blocks.#.ffn.router", .theirs = "layers.#.mlp.gate"},
    {.ours = "blocks.#.ffn.experts.@.gate", .theirs = "layers.#.mlp.experts.@.gate_proj"},
    {.ours = "blocks.#.ffn.experts.@.up", .theirs = "layers.#.mlp.experts.@.up_proj"},
    {.ours = "blocks.#.ffn.experts.@.down", .theirs = "layers.#.mlp.experts.@.down_proj"},
    {.ours = "blocks.#.ffn.shared.gate", .theirs = "layers.#.mlp.shared_expert.gate_proj"},
    {.ours = "blocks.#.ffn.shared.up", .theirs = "layers.#.mlp.shared_expert.up_proj"},
    {.ours = "blocks.#.ffn.shared.down", .theirs = "layers.#.mlp.shared_expert.down_proj"},
    {.ours = "blocks.#.ffn.shared_gate", .theirs = "layers.#.mlp.shared_expert_gate"},
};
// Numbers of gate and up take turns. Blocks of MXFP4 are not transposed.
constexpr WeightName kGptOssExperts[] = {
    {.ours = "blocks.#.attn.sinks", .theirs = "layers.#.self_attn.sinks"},
    {.ours = "blocks.#.ffn.router", .theirs = "layers.#.mlp.router"},
    {.ours = "blocks.#.ffn.experts.@.gate.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj",
     .change = Change::transposed,
     .part = 0,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.gate.bias",
     .theirs = "layers.#.mlp.experts.gate_up_proj_bias",
     .part = 0,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj",
     .change = Change::transposed,
     .part = 1,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.up.bias",
     .theirs = "layers.#.mlp.experts.gate_up_proj_bias",
     .part = 1,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight",
     .theirs = "layers.#.mlp.experts.down_proj",
     .change = Change::transposed,
     .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.bias", .theirs = "layers.#.mlp.experts.down_proj_bias", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.gate.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj_blocks",
     .part = 0,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj_blocks",
     .part = 1,
     .parts = 2,
     .of_experts = true,
     .in_turn = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight",
     .theirs = "layers.#.mlp.experts.down_proj_blocks",
     .of_experts = true},
};
constexpr WeightName kGraniteExperts[] = {
    {.ours = "blocks.#.ffn.router",
     .theirs = "layers.#.block_sparse_moe.router.layer",
     .otherwise = "layers.#.block_sparse_moe.router"},
    {.ours = "blocks.#.ffn.experts.@.gate.weight",
     .theirs = "layers.#.block_sparse_moe.input_linear.weight",
     .otherwise = "layers.#.block_sparse_moe.experts.gate_up_proj",
     .part = 0,
     .parts = 2,
     .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight",
     .theirs = "layers.#.block_sparse_moe.input_linear.weight",
     .otherwise = "layers.#.block_sparse_moe.experts.gate_up_proj",
     .part = 1,
     .parts = 2,
     .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight",
     .theirs = "layers.#.block_sparse_moe.output_linear.weight",
     .otherwise = "layers.#.block_sparse_moe.experts.down_proj",
     .of_experts = true},
};

ExpertShares shares_in(const ConfigFile& config) {
  return config.flag("norm_topk_prob", false) ? ExpertShares::of_chosen : ExpertShares::of_all;
}

// The same in all layers.
void read_one_window(const ConfigFile& config, DecoderOptions& options, std::int64_t otherwise) {
  const std::optional<std::int64_t> window = window_in(config, otherwise);
  if (window) options.choices.windows.assign(static_cast<std::size_t>(options.layers), *window);
}

// Layers that `mlp_only_layers` lists have no experts, nor have those between each `decoder_sparse_step`-th.
void read_layers_without(const ConfigFile& config, DecoderOptions& options) {
  constexpr std::string_view kListed = "mlp_only_layers";
  constexpr std::string_view kStep = "decoder_sparse_step";
  const std::int64_t step = config.integer(kStep, 1);
  if (step < 1) config.refuse(kStep, "1 or more");
  std::vector<std::int64_t> without(static_cast<std::size_t>(options.layers));
  for (std::int64_t n = 0; n < options.layers; ++n) without[static_cast<std::size_t>(n)] = (n + 1) % step != 0 ? 1 : 0;
  for (const std::int64_t n : config.integers(kListed)) {
    if (n < 0 || n >= options.layers) config.refuse(kListed, "layers from 0 to " + std::to_string(options.layers - 1));
    without[static_cast<std::size_t>(n)] = 1;
  }
  options.choices.without_experts = std::move(without);
}

Model::Network mixtral_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 8;
  constexpr double kBase = 1e6;
  DecoderOptions options = llama_options(config);
  read_rotary(config, options, kBase);
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (config.has("sliding_window")) read_one_window(config, options, 0);
  read_experts(config, options, {"num_local_experts", "num_experts"}, {.count = 8, .per_token = 2});
  return Decoder(options, init, dtype);
}

// What both of Qwen say alike.
DecoderOptions qwen_moe_options(const ConfigFile& config, std::int64_t kv_heads, const CountWords& words,
                                const ExpertOptions& usual) {
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kv_heads);
  read_experts(config, options, words, usual);
  options.choices.experts.d_ff = config.integer("moe_intermediate_size", *usual.d_ff);
  options.choices.experts.shares = shares_in(config);
  read_layers_without(config, options);
  return options;
}

Model::Network qwen3_moe_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 4;
  constexpr std::int64_t kWindow = 4096;
  DecoderOptions options = qwen_moe_options(config, kKvHeads, {"num_experts", "num_local_experts"},
                                            {.count = 128, .per_token = 8, .d_ff = 768});
  options.bias = config.flag("attention_bias", false);
  options.choices.qk_norm = options.choices.epsilon;
  const bool has_windows = config.flag("use_sliding_window", false);
  if (has_windows) read_one_window(config, options, kWindow);
  static_cast<void>(config.has("sliding_window"));
  return Decoder(options, init, dtype);
}

Model::Network qwen2_moe_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 16;
  constexpr std::int64_t kWindow = 4096;
  constexpr std::int64_t kWindowLayers = 28;
  constexpr std::int64_t kSharedWidth = 5632;
  DecoderOptions options =
      qwen_moe_options(config, kKvHeads, {"num_experts"}, {.count = 60, .per_token = 4, .d_ff = 1408});
  options.bias = config.flag("qkv_bias", true);
  options.choices.out_bias = false;
  options.choices.experts.shared_d_ff = config.integer("shared_expert_intermediate_size", kSharedWidth);
  options.choices.experts.shared_gate = true;
  // Without windows its configs have one of 0.
  const bool has_windows = config.flag("use_sliding_window", false);
  const std::int64_t before = config.integer("max_window_layers", kWindowLayers);
  const std::int64_t window = has_windows ? window_in(config, kWindow).value_or(0) : 0;
  static_cast<void>(config.has("sliding_window"));
  const auto windows =
      windows_in(config, options.layers, window, [&](std::int64_t n) { return n % 2 == 0 && n < before; });
  if (window > 0) options.choices.windows = windows;
  return Decoder(options, init, dtype);
}

Model::Network olmoe_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("clip_qkv", nullptr);
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  options.bias = config.flag("attention_bias", false);
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.qk_norm = options.choices.epsilon;
  options.choices.qk_norm_of_all = true;
  read_experts(config, options, {"num_experts", "num_local_experts"}, {.count = 64, .per_token = 8});
  options.choices.experts.shares = shares_in(config);
  return Decoder(options, init, dtype);
}

// YaRN, where the config does not say how q and k turn.
ConfigFile with_usual_turns(const ConfigFile& config) {
  if (config.has("rope_parameters") || config.has("rope_scaling")) return config;
  return config.with("rope_parameters", {{"rope_type", "yarn"},
                                         {"factor", 32.0},
                                         {"beta_fast", 32.0},
                                         {"beta_slow", 1.0},
                                         {"truncate", false},
                                         {"original_max_position_embeddings", 4096}});
}

Model::Network gpt_oss_network(const ConfigFile& file, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 8;
  constexpr std::int64_t kHeadWidth = 64;
  constexpr std::int64_t kWindow = 128;
  constexpr double kBase = 150000;
  constexpr double kLimit = 7;
  const ConfigFile config = with_usual_turns(file);
  config.require("hidden_act", "silu");
  config.require("swiglu_alpha", 1.702);
  DecoderOptions options = llama_options(config);
  read_rotary(config, options, kBase);
  options.activation = Activation::quick_gelu;  // x * sigmoid(1.702 x)
  options.bias = config.flag("attention_bias", true);
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (!config.contains("head_dim")) options.choices.d_k = kHeadWidth;
  options.choices.sinks = true;
  options.choices.feed_forward = FeedForwardKind::limited;
  options.choices.feed_forward_bias = true;
  options.choices.feed_forward_limit = config.number("swiglu_limit", kLimit);
  if (!(options.choices.feed_forward_limit > 0)) config.refuse("swiglu_limit", "more than 0");
  const std::optional<std::int64_t> window = window_in(config, kWindow);
  const auto windows =
      windows_in(config, options.layers, window.value_or(0), [](std::int64_t n) { return n % 2 == 0; });
  if (window) options.choices.windows = windows;
  read_experts(config, options, {"num_local_experts", "num_experts"}, {.count = 128, .per_token = 4});
  options.choices.experts.router_bias = true;
  return Decoder(options, init, dtype);
}

Model::Network granitemoe_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = granite_options(config);
  read_experts(config, options, {"num_local_experts"}, {.count = 8, .per_token = 2});
  return Decoder(options, init, dtype);
}

// Its program chooses two experts whatever num_experts_per_tok says.
Model::Network phimoe_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kKvHeads = 8;
  constexpr double kBase = 1e6;
  constexpr double kJitter = 0.01;
  config.require("num_experts_per_tok", 2);
  DecoderOptions options = llama_options(config);
  read_rotary(config, options, kBase);
  options.bias = config.flag("attention_bias", false);
  options.output_bias = config.flag("lm_head_bias", false);
  options.choices.norm = NormKind::layer;
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (config.has("sliding_window")) read_one_window(config, options, 0);
  read_experts(config, options, {"num_local_experts"}, {.count = 16, .per_token = 2});
  options.choices.experts.shares = ExpertShares::in_turn;
  options.choices.experts.router_jitter = config.number("router_jitter_noise", kJitter);
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> mixtures_of_experts() {
  static const std::vector<WeightName> kGptOssNames = llama_names_with({kGptOssExperts});
  static const std::vector<WeightName> kGranitemoeNames = llama_names_with({kGraniteExperts});
  static const std::vector<WeightName> kMixtralNames = llama_names_with({kMixtralExperts, experts_in_one()});
  static const std::vector<WeightName> kQwenNames = llama_names_with({kQwenExperts, experts_in_one()});
  static const std::vector<WeightName> kPhimoeNames =
      llama_names_with({kPhimoeRouter, kMixtralExperts, experts_in_one()});
  static const Family kFamilies[] = {
      llama_like("gpt_oss", gpt_oss_network, kGptOssNames),
      llama_like("granitemoe", granitemoe_network, kGranitemoeNames),
      llama_like("mixtral", mixtral_network, kMixtralNames),
      llama_like("olmoe", olmoe_network, kQwenNames),
      llama_like("phimoe", phimoe_network, kPhimoeNames),
      llama_like("qwen2_moe", qwen2_moe_network, kQwenNames),
      llama_like("qwen3_moe", qwen3_moe_network, kQwenNames),
  };
  return kFamilies;
}

}  // namespace qkv::families
