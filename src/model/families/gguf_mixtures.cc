// Architectures whose feed-forward layers are a choice of experts.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"

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

// The norm before the feed-forward layer is called that behind attention.
constexpr WeightName kGgufGptOss[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_q"},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_k"},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_v"},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.attn.sinks", .theirs = "blk.#.attn_sinks.weight"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.post_attention_norm"},
    {.ours = "blocks.#.ffn.router", .theirs = "blk.#.ffn_gate_inp"},
    {.ours = "blocks.#.ffn.experts.@.gate.weight", .theirs = "blk.#.ffn_gate_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.gate.bias", .theirs = "blk.#.ffn_gate_exps.bias", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight", .theirs = "blk.#.ffn_up_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.bias", .theirs = "blk.#.ffn_up_exps.bias", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight", .theirs = "blk.#.ffn_down_exps.weight", .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.bias", .theirs = "blk.#.ffn_down_exps.bias", .of_experts = true},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

// What llama.cpp asks for, or does not know.
constexpr std::string_view kGptOssNeeds[] = {"output.weight", "blk.0.attn_output.bias"};
constexpr std::string_view kMapNeeded[] = {"output.weight"};
constexpr std::string_view kNoOutBias[] = {"blk.0.attn_output.bias"};

// Their number, and what a choice may do that qkv does not. `theirs`: what the family's config calls the number.
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

std::span<const WeightName> names_with_experts() {
  static const std::vector<WeightName> kAll = [] {
    std::vector<WeightName> all(gguf_decoder_names().begin(), gguf_decoder_names().end());
    all.insert(all.end(), std::begin(kGgufExperts), std::end(kGgufExperts));
    return all;
  }();
  return kAll;
}

GgufFamily with_experts(std::string_view architecture, std::string_view model_type, Json (*words)(const GgufKeys&),
                        std::string_view class_name, GgufChange change = GgufChange::none) {
  return {.architecture = architecture,
          .model_type = model_type,
          .config = words,
          .names = names_with_experts(),
          .class_name = class_name,
          .change = change,
          .has_experts = true};
}

GgufFamily with_demands(GgufFamily family, std::span<const std::string_view> needed,
                        std::span<const std::string_view> unknown) {
  family.needed = needed;
  family.unknown = unknown;
  return family;
}

GgufFamily gpt_oss_family() {
  GgufFamily family = with_experts("gpt-oss", "gpt_oss", gpt_oss_words, "GptOssForCausalLM");
  family.names = kGgufGptOss;
  return with_demands(family, kGptOssNeeds, {});
}

}  // namespace

std::span<const GgufFamily> gguf_mixtures() {
  constexpr auto kPairs = GgufChange::interleaved_heads;
  static const GgufFamily kFamilies[] = {
      with_experts("llama", "mixtral", mixtral_words, "MixtralForCausalLM", kPairs),
      with_experts("granitemoe", "granitemoe", granitemoe_words, "GraniteMoeForCausalLM", kPairs),
      with_demands(with_experts("olmoe", "olmoe", olmoe_words, "OlmoeForCausalLM"), kMapNeeded, kNoOutBias),
      with_demands(with_experts("qwen2moe", "qwen2_moe", qwen2_moe_words, "Qwen2MoeForCausalLM"), kMapNeeded, {}),
      with_demands(with_experts("qwen3moe", "qwen3_moe", qwen3_moe_words, "Qwen3MoeForCausalLM"), {}, kNoOutBias),
      gpt_oss_family(),
  };
  return kFamilies;
}

}  // namespace qkv::families
