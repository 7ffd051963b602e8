// Architectures whose feed-forward layers are a choice of experts.
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"
#include "model/families/gguf_names.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

// Files of before April 2024 have a tensor for each expert.
constexpr WeightName kGgufExperts[] = {
    {.ours = "blocks.#.ffn.router", .theirs = "blk.#.ffn_gate_inp"},
    {.ours = "blocks.#.ffn.experts.@.gate.weight", .theirs = "blk.#.ffn_gate_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight", .theirs = "blk.#.ffn_up_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight", .theirs = "blk.#.ffn_down_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.gate", .theirs = "blk.#.ffn_gate.@"},
    {.ours = "blocks.#.ffn.experts.@.up", .theirs = "blk.#.ffn_up.@"},
    {.ours = "blocks.#.ffn.experts.@.down", .theirs = "blk.#.ffn_down.@"},
    {.ours = "blocks.#.ffn.shared.gate", .theirs = "blk.#.ffn_gate_shexp"},
    {.ours = "blocks.#.ffn.shared.up", .theirs = "blk.#.ffn_up_shexp"},
    {.ours = "blocks.#.ffn.shared.down", .theirs = "blk.#.ffn_down_shexp"},
    {.ours = "blocks.#.ffn.shared_gate", .theirs = "blk.#.ffn_gate_inp_shexp", .change = Change::reshaped},
};

constexpr auto kGgufMixture =
    joined_names(kGgufBody, kGgufNorms, kGgufQkv, kGgufFeedForward, kGgufGatedRest, kGgufExperts, kGgufOutput);

// The norm before the feed-forward layer is called that behind attention.
constexpr WeightName kGptOssRest[] = {
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.sinks", .theirs = "blk.#.attn_sinks.weight"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.post_attention_norm"},
    {.ours = "blocks.#.ffn.router", .theirs = "blk.#.ffn_gate_inp"},
    {.ours = "blocks.#.ffn.experts.@.gate.weight", .theirs = "blk.#.ffn_gate_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.gate.bias", .theirs = "blk.#.ffn_gate_exps.bias", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight", .theirs = "blk.#.ffn_up_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.bias", .theirs = "blk.#.ffn_up_exps.bias", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight", .theirs = "blk.#.ffn_down_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.bias", .theirs = "blk.#.ffn_down_exps.bias", .of_experts = true},
};
constexpr auto kGgufGptOss = joined_names(kGgufBody, kGgufQkv, kGptOssRest, kGgufOutput);

// What llama.cpp asks for.
constexpr std::string_view kGptOssNeeds[] = {"output.weight", "blk.0.attn_output.bias"};

// How many experts there are; refuses a choice among them that qkv does not compute. `theirs`: what the family's config
// calls their number.
Json words_with_experts(const GgufKeys& keys, const char* theirs) {
  const std::string gating = key_of(keys, "expert_gating_func");
  if (keys.has(gating) && keys.integer(gating) > 1) keys.refuse(gating, "1: softmax");
  const std::string scale = key_of(keys, "expert_weights_scale");
  if (keys.has(scale) && keys.number(scale) != 0 && keys.number(scale) != 1) keys.refuse(scale, "1");
  const std::string groups = key_of(keys, "expert_group_count");
  if (keys.has(groups) && keys.integer(groups) > 1) keys.refuse(groups, "1: experts are chosen from all");
  Json words = words_of_all_decoders(keys);
  words[theirs] = integer_of(keys, "expert_count");
  words["num_experts_per_tok"] = integer_of(keys, "expert_used_count");
  return words;
}

Json mixtral_words(const GgufKeys& keys) {
  require_absent(keys, "expert_shared_count", "experts that every token has beside the chosen");
  const std::string norm = key_of(keys, "expert_weights_norm");
  if (!keys.flag(norm, true)) keys.refuse(norm, "true: shares are those of the chosen");
  return without_usual_width(words_with_experts(keys, "num_local_experts"));
}

// The width of an expert, and whether shares are those of the chosen.
Json qwen_moe_words(const GgufKeys& keys, bool usual_norm) {
  Json words = words_with_experts(keys, "num_experts");
  words["moe_intermediate_size"] = integer_of(keys, "expert_feed_forward_length");
  words["norm_topk_prob"] = keys.flag(key_of(keys, "expert_weights_norm"), usual_norm);
  return words;
}

Json qwen3_moe_words(const GgufKeys& keys) {
  Json words = qwen_moe_words(keys, true);
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  return words;
}

Json qwen2_moe_words(const GgufKeys& keys) {
  Json words = without_usual_width(qwen_moe_words(keys, false));
  words["qkv_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  words["shared_expert_intermediate_size"] = integer_of(keys, "expert_shared_feed_forward_length");
  return words;
}

Json olmoe_words(const GgufKeys& keys) {
  Json words = without_usual_width(words_with_experts(keys, "num_experts"));
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  words["norm_topk_prob"] = keys.flag(key_of(keys, "expert_weights_norm"), false);
  return words;
}

Json granitemoe_words(const GgufKeys& keys) {
  require_absent(keys, "expert_shared_count", "experts that every token has beside the chosen");
  require_absent(keys, "expert_shared_feed_forward_length", "experts that every token has beside the chosen");
  Json words = words_with_experts(keys, "num_local_experts");
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  add_factors(keys, words);
  return without_usual_width(words);
}

// The ramp of its scaling does not begin and end at whole pairs, which the file does not say.
Json gpt_oss_words(const GgufKeys& keys) {
  constexpr std::int64_t kEvery = 2;
  Json words = words_with_experts(keys, "num_local_experts");
  words["intermediate_size"] = of_each_layer(keys, "expert_feed_forward_length");
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  words["sliding_window"] = integer_of(keys, "attention.sliding_window");
  words["layer_types"] = layer_types_of(keys, kEvery);
  Json& rope = words["rope_parameters"];
  if (rope.at("rope_type") == "yarn") rope["truncate"] = false;
  return words;
}

constexpr GgufFamily with_experts(GgufFamily family) {
  family.has_experts = true;
  return family;
}

}  // namespace

std::span<const GgufFamily> gguf_mixtures() {
  constexpr auto kAsIs = GgufChange::none;
  constexpr auto kPairs = GgufChange::interleaved_heads;
  static constexpr GgufFamily kFamilies[] = {
      with_experts({"llama", "mixtral", mixtral_words, kGgufMixture, "MixtralForCausalLM", kPairs}),
      with_experts({"granitemoe", "granitemoe", granitemoe_words, kGgufMixture, "GraniteMoeForCausalLM", kPairs}),
      with_experts({"olmoe", "olmoe", olmoe_words, kGgufMixture, "OlmoeForCausalLM", kAsIs, kOutputWeight, kOutBias}),
      with_experts(
          {"qwen2moe", "qwen2_moe", qwen2_moe_words, kGgufMixture, "Qwen2MoeForCausalLM", kAsIs, kOutputWeight}),
      with_experts(
          {"qwen3moe", "qwen3_moe", qwen3_moe_words, kGgufMixture, "Qwen3MoeForCausalLM", kAsIs, {}, kOutBias}),
      with_experts({"gpt-oss", "gpt_oss", gpt_oss_words, kGgufGptOss, "GptOssForCausalLM", kAsIs, kGptOssNeeds}),
  };
  return kFamilies;
}

}  // namespace qkv::families
