// DeepSeek-V2 and V3 (DeepSeek-AI 2024, 2024b), whose keys and values come from a narrow vector, and GLM-4 MoE (Zeng et
// al. 2025), whose experts are chosen as those of V3.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "model/families/expert_options.h"
#include "model/families/family.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kLatentNames[] = {
    {.ours = "blocks.#.attn.q_latent", .theirs = "layers.#.self_attn.q_a_proj"},
    {.ours = "blocks.#.attn.q_latent_norm", .theirs = "layers.#.self_attn.q_a_layernorm"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_b_proj"},
    {.ours = "blocks.#.attn.latent", .theirs = "layers.#.self_attn.kv_a_proj_with_mqa"},
    {.ours = "blocks.#.attn.latent_norm", .theirs = "layers.#.self_attn.kv_a_layernorm"},
    {.ours = "blocks.#.attn.kv", .theirs = "layers.#.self_attn.kv_b_proj"},
};
constexpr WeightName kRoutedNames[] = {
    {.ours = "blocks.#.ffn.router", .theirs = "layers.#.mlp.gate"},
    {.ours = "blocks.#.ffn.correction", .theirs = "layers.#.mlp.gate.e_score_correction_bias"},
    {.ours = "blocks.#.ffn.experts.@.gate", .theirs = "layers.#.mlp.experts.@.gate_proj"},
    {.ours = "blocks.#.ffn.experts.@.up", .theirs = "layers.#.mlp.experts.@.up_proj"},
    {.ours = "blocks.#.ffn.experts.@.down", .theirs = "layers.#.mlp.experts.@.down_proj"},
    {.ours = "blocks.#.ffn.shared.gate", .theirs = "layers.#.mlp.shared_experts.gate_proj"},
    {.ours = "blocks.#.ffn.shared.up", .theirs = "layers.#.mlp.shared_experts.up_proj"},
    {.ours = "blocks.#.ffn.shared.down", .theirs = "layers.#.mlp.shared_experts.down_proj"},
};

// Behind the last layer files may have some that say tokens further on.
std::int64_t further_layers(const ConfigFile& config) {
  constexpr std::string_view kWord = "num_nextn_predict_layers";
  constexpr std::int64_t kMost = 1024;
  const std::int64_t layers = config.renamed(kWord, "num_mtp_layers").integer(kWord, 1);
  if (layers < 0 || layers > kMost) config.refuse(kWord, "0 to " + std::to_string(kMost));
  return layers;
}

Family routed_like(std::string_view type, Model::Network (*network)(const ConfigFile&, const Init&, DType),
                   std::span<const WeightName> names) {
  Family family = llama_like(type, network, names);
  family.further_layers = further_layers;
  return family;
}

// What the two programs take where the config does not say.
struct LatentUsual {
  std::int64_t q_rank = 1536;
  std::int64_t kv_rank = 512;
  std::int64_t still = 128;  // qk_nope_head_dim
  std::int64_t turned = 64;
  std::int64_t d_v = 128;
};

// Scores of longer texts: their factor grows with that of the positions, in every scaling that names mscale_all_dim.
double longer_scale(const ConfigFile& config) {
  const ConfigFile rope = rotary_object(config);
  const double all = rope.number("mscale_all_dim", 0);
  const bool is_scaled = rope.text("rope_type", rope.text("type", "default")) != "default";
  if (!is_scaled || all == 0) return 1;
  const double factor = rope.number("factor");
  const double mscale = factor <= 1 ? 1 : 0.1 * all * std::log(factor) + 1;
  return mscale * mscale;
}

void read_latent(const ConfigFile& config, DecoderOptions& options) {
  const LatentUsual usual;
  LayerChoices& choices = options.choices;
  const std::int64_t turned = config.integer("qk_rope_head_dim", usual.turned);
  const std::int64_t still = config.integer("qk_nope_head_dim", usual.still);
  if (turned < 1 || turned % 2 != 0) config.refuse("qk_rope_head_dim", "an even number, 2 or more");
  if (still < 1) config.refuse("qk_nope_head_dim", "1 or more");
  if (choices.kv_heads && *choices.kv_heads != options.heads) {
    config.refuse("num_key_value_heads", "num_attention_heads, " + std::to_string(options.heads));
  }
  choices.d_k = still + turned;
  choices.d_v = config.integer("v_head_dim", usual.d_v);
  choices.rotary_dim = turned;
  choices.latent.kv_rank = config.integer("kv_lora_rank", usual.kv_rank);
  if (choices.latent.kv_rank < 1) config.refuse("kv_lora_rank", "1 or more");
  if (config.has("q_lora_rank") || !config.contains("q_lora_rank")) {
    choices.latent.q_rank = config.integer("q_lora_rank", usual.q_rank);
  }
  choices.scale = longer_scale(config) / std::sqrt(static_cast<double>(still + turned));
}

// What their programs take where the config does not say.
struct RoutedUsual {
  ExpertOptions experts = {};
  std::int64_t shared = 1;   // experts that every token has, in one
  std::int64_t without = 0;  // layers before the first with experts
};

void read_routed(const ConfigFile& config, DecoderOptions& options, std::string_view other_count,
                 const RoutedUsual& usual) {
  read_experts(config, options, {"n_routed_experts", other_count}, usual.experts);
  ExpertOptions& experts = options.choices.experts;
  experts.d_ff = config.integer("moe_intermediate_size", *usual.experts.d_ff);
  const std::int64_t shared = config.integer("n_shared_experts", usual.shared);
  if (shared < 1) config.refuse("n_shared_experts", "1 or more");
  experts.shared_d_ff = shared * *experts.d_ff;
  experts.factor = config.number("routed_scaling_factor", usual.experts.factor);
  config.require("moe_layer_freq", 1);
  const std::int64_t without = config.integer("first_k_dense_replace", usual.without);
  if (without < 0) config.refuse("first_k_dense_replace", "0 or more");
  std::vector<std::int64_t>& layers = options.choices.without_experts;
  layers.assign(static_cast<std::size_t>(options.layers), 0);
  std::fill_n(layers.begin(), std::min(without, options.layers), 1);
}

void read_groups(const ConfigFile& config, ExpertOptions& experts, std::int64_t groups, std::int64_t chosen) {
  experts.groups = config.integer("n_group", groups);
  experts.groups_per_token = config.integer("topk_group", chosen);
  const std::int64_t least = experts.correction ? 2 : 1;
  if (experts.groups < 1 || experts.count % experts.groups != 0 || experts.count / experts.groups < least) {
    config.refuse("n_group", "a divisor of " + std::to_string(experts.count) + " experts, with " +
                                 std::to_string(least) + " or more in each");
  }
  if (experts.groups_per_token < 1 || experts.groups_per_token > experts.groups ||
      experts.groups_per_token * (experts.count / experts.groups) < experts.per_token) {
    config.refuse("topk_group", "1 to n_group, so many that they have num_experts_per_tok experts");
  }
}

// Sigmoids with a correction: V3 and GLM.
void read_sigmoids(const ConfigFile& config, DecoderOptions& options, std::int64_t groups, std::int64_t chosen) {
  config.require("scoring_func", "sigmoid");
  config.require("topk_method", "noaux_tc");
  ExpertOptions& experts = options.choices.experts;
  const bool is_of_chosen = config.flag("norm_topk_prob", true);
  experts.shares = is_of_chosen ? ExpertShares::sigmoid_of_chosen : ExpertShares::sigmoid;
  experts.correction = true;
  read_groups(config, experts, groups, chosen);
}

DecoderOptions deepseek_options(const ConfigFile& config) {
  DecoderOptions options = llama_options(config);
  read_rotary(config, options);
  read_latent(config, options);
  options.bias = config.flag("attention_bias", false);
  return options;
}

Model::Network deepseek_v2_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("scoring_func", "softmax");
  config.require("norm_topk_prob", false);
  config.require("mlp_bias", false);
  DecoderOptions options = deepseek_options(config);
  options.choices.rotary_layout = RotaryLayout::interleaved;
  read_routed(config, options, "num_experts", {.experts = {.count = 64, .d_ff = 1407}, .shared = 2});
  ExpertOptions& experts = options.choices.experts;
  experts.shares = ExpertShares::of_all;
  const std::string method = config.text("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    read_groups(config, experts, 1, 1);
  } else if (method == "greedy") {
    for (const char* word : {"n_group", "topk_group"}) static_cast<void>(config.has(word));
  } else {
    config.refuse("topk_method", "greedy or group_limited_greedy");
  }
  return Decoder(options, init, dtype);
}

Model::Network deepseek_v3_network(const ConfigFile& config, const Init& init, DType dtype) {
  DecoderOptions options = deepseek_options(config);
  const bool is_interleaved = config.flag("rope_interleave", true);
  options.choices.rotary_layout = is_interleaved ? RotaryLayout::interleaved : RotaryLayout::half_split;
  read_routed(config, options, "num_local_experts",
              {.experts = {.count = 256, .per_token = 8, .d_ff = 2048, .factor = 2.5}, .without = 3});
  read_sigmoids(config, options, 8, 4);
  return Decoder(options, init, dtype);
}

Model::Network glm4_moe_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr double kTurned = 0.5;
  constexpr std::int64_t kKvHeads = 8;
  DecoderOptions options = llama_options(config);
  options.bias = config.flag("attention_bias", false);
  options.choices.out_bias = false;
  options.choices.epsilon = config.number("rms_norm_eps", 1e-5);
  options.choices.kv_heads = kv_heads_in(config, options.heads, kKvHeads);
  if (!options.choices.d_k && options.heads > 0) options.choices.d_k = options.d_model / options.heads;
  const bool has_norms = config.flag("use_qk_norm", false);
  if (has_norms) options.choices.qk_norm = options.choices.epsilon;
  read_partial_rotary(config, options, kTurned);
  read_routed(config, options, "num_local_experts",
              {.experts = {.count = 128, .per_token = 8, .d_ff = 1408}, .without = 1});
  read_sigmoids(config, options, 1, 1);
  return Decoder(options, init, dtype);
}

}  // namespace

std::span<const Family> deepseek_families() {
  static const std::vector<WeightName> kLatent = llama_names_with({kLatentNames, kRoutedNames, experts_in_one()});
  static const std::vector<WeightName> kGlm = llama_names_with({kRoutedNames, experts_in_one()});
  static const Family kFamilies[] = {
      llama_like("deepseek_v2", deepseek_v2_network, kLatent),
      routed_like("deepseek_v3", deepseek_v3_network, kLatent),
      routed_like("glm4_moe", glm4_moe_network, kGlm),
  };
  return kFamilies;
}

}  // namespace qkv::families
