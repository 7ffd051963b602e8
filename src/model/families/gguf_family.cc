#include "model/families/gguf_family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/listed.h"
#include "model/families/gguf_rotary.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

constexpr WeightName kGgufDecoder[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_q"},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_k"},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_v"},
    {.ours = "blocks.#.attn.q_norm", .theirs = "blk.#.attn_q_norm"},
    {.ours = "blocks.#.attn.k_norm", .theirs = "blk.#.attn_k_norm"},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.attn_norm", .theirs = "blk.#.post_attention_norm"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.ffn_norm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_gate"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "blocks.#.ffn_norm", .theirs = "blk.#.post_ffw_norm"},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

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

constexpr WeightName kGgufGpt2[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "positions", .theirs = "position_embd"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.ffn_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

constexpr WeightName kGgufBert[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "positions", .theirs = "position_embd"},
    {.ours = "types", .theirs = "token_types"},
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_q"},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_k"},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_v"},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_output_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.layer_output_norm"},
};

constexpr WeightName kGgufNomic[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "types", .theirs = "token_types"},
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_output_norm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_gate"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.layer_output_norm"},
};

constexpr WeightName kGgufT5[] = {
    {.ours = "encoder.embedding", .theirs = "token_embd"},
    {.ours = "encoder.t5", .theirs = "enc.blk.0.attn_rel_b"},
    {.ours = "encoder.blocks.#.ln1", .theirs = "enc.blk.#.attn_norm"},
    {.ours = "encoder.blocks.#.attn.q", .theirs = "enc.blk.#.attn_q"},
    {.ours = "encoder.blocks.#.attn.k", .theirs = "enc.blk.#.attn_k"},
    {.ours = "encoder.blocks.#.attn.v", .theirs = "enc.blk.#.attn_v"},
    {.ours = "encoder.blocks.#.attn.out", .theirs = "enc.blk.#.attn_o"},
    {.ours = "encoder.blocks.#.ln2", .theirs = "enc.blk.#.ffn_norm"},
    {.ours = "encoder.blocks.#.ffn.gate", .theirs = "enc.blk.#.ffn_gate"},
    {.ours = "encoder.blocks.#.ffn.up", .theirs = "enc.blk.#.ffn_up"},
    {.ours = "encoder.blocks.#.ffn.down", .theirs = "enc.blk.#.ffn_down"},
    {.ours = "encoder.ln_final", .theirs = "enc.output_norm"},
    {.ours = "decoder.t5", .theirs = "dec.blk.0.attn_rel_b"},
    {.ours = "decoder.blocks.#.ln1", .theirs = "dec.blk.#.attn_norm"},
    {.ours = "decoder.blocks.#.attn.q", .theirs = "dec.blk.#.attn_q"},
    {.ours = "decoder.blocks.#.attn.k", .theirs = "dec.blk.#.attn_k"},
    {.ours = "decoder.blocks.#.attn.v", .theirs = "dec.blk.#.attn_v"},
    {.ours = "decoder.blocks.#.attn.out", .theirs = "dec.blk.#.attn_o"},
    {.ours = "decoder.blocks.#.ln_cross", .theirs = "dec.blk.#.cross_attn_norm"},
    {.ours = "decoder.blocks.#.cross.q", .theirs = "dec.blk.#.cross_attn_q"},
    {.ours = "decoder.blocks.#.cross.k", .theirs = "dec.blk.#.cross_attn_k"},
    {.ours = "decoder.blocks.#.cross.v", .theirs = "dec.blk.#.cross_attn_v"},
    {.ours = "decoder.blocks.#.cross.out", .theirs = "dec.blk.#.cross_attn_o"},
    {.ours = "decoder.blocks.#.ln2", .theirs = "dec.blk.#.ffn_norm"},
    {.ours = "decoder.blocks.#.ffn.gate", .theirs = "dec.blk.#.ffn_gate"},
    {.ours = "decoder.blocks.#.ffn.up", .theirs = "dec.blk.#.ffn_up"},
    {.ours = "decoder.blocks.#.ffn.down", .theirs = "dec.blk.#.ffn_down"},
    {.ours = "decoder.ln_final", .theirs = "dec.output_norm"},
    {.ours = "decoder.output", .theirs = "output"},
};

bool has_tensor(const GgufKeys& keys, std::string_view name) { return keys.file().find(name) != nullptr; }

std::int64_t integer_of(const GgufKeys& keys, std::string_view name) { return keys.integer(key_of(keys, name)); }

// A number of all layers, or a list of one that is the same in each.
std::int64_t of_each_layer(const GgufKeys& keys, std::string_view name, std::optional<std::int64_t> otherwise = {}) {
  const std::string key = key_of(keys, name);
  if (!keys.has(key) && otherwise) return *otherwise;
  const GgufValue* value = keys.has(key) ? &keys.file().metadata().find(key)->second : nullptr;
  if (value == nullptr || !std::holds_alternative<std::vector<std::int64_t>>(value->value)) return keys.integer(key);
  const std::vector<std::int64_t> all = keys.integers(key);
  const bool are_alike = !all.empty() && std::ranges::count(all, all.front()) == std::ssize(all);
  if (!are_alike || all.front() < 0 || all.front() > INT32_MAX) keys.refuse(key, "the same number in each layer");
  return all.front();
}

// No more than there are tensors: a wrong number must not cost minutes and gigabytes.
std::int64_t layers_of(const GgufKeys& keys) {
  const std::int64_t most = std::min<std::int64_t>(16384, std::ssize(keys.file().entries()));
  const std::int64_t count = integer_of(keys, "block_count");
  if (count < 1 || count > most) {
    keys.refuse(key_of(keys, "block_count"), "from 1 to " + std::to_string(most) + ", the number of tensors");
  }
  return count;
}

void require_absent(const GgufKeys& keys, std::string_view name, std::string_view without) {
  const std::string key = key_of(keys, name);
  if (keys.has(key) && keys.integer(key) != 0) {
    keys.refuse(key, "0: qkv computes no model with " + std::string(without));
  }
}

std::int64_t head_width(const GgufKeys& keys, std::int64_t width, std::int64_t heads) {
  const std::int64_t usual = heads > 0 ? width / heads : 0;
  const std::int64_t own = keys.integer(key_of(keys, "attention.key_length"), usual);
  const std::string value_key = key_of(keys, "attention.value_length");
  if (keys.integer(value_key, own) != own) keys.refuse(value_key, std::to_string(own) + ", the width of keys");
  return own;
}

// Of a layer without experts, where there is one.
std::int64_t feed_forward_width(const GgufKeys& keys) {
  const std::string of_expert = key_of(keys, "expert_feed_forward_length");
  if (!keys.has(of_expert)) return of_each_layer(keys, "feed_forward_length");
  return of_each_layer(keys, "feed_forward_length", keys.integer(of_expert));
}

// What Llama and the families after it say alike.
Json words_of_all_decoders(const GgufKeys& keys, double usual_base) {
  const std::int64_t heads = of_each_layer(keys, "attention.head_count");
  const std::int64_t width = integer_of(keys, "embedding_length");
  const std::int64_t of_head = head_width(keys, width, heads);
  return {{"max_position_embeddings", integer_of(keys, "context_length")},
          {"num_hidden_layers", layers_of(keys)},
          {"hidden_size", width},
          {"num_attention_heads", heads},
          {"num_key_value_heads", of_each_layer(keys, "attention.head_count_kv", heads)},
          {"head_dim", of_head},
          {"intermediate_size", feed_forward_width(keys)},
          {"rms_norm_eps", keys.number(key_of(keys, "attention.layer_norm_rms_epsilon"))},
          {"rope_parameters", gguf_rope(keys, of_head, usual_base)},
          {"tie_word_embeddings", !has_tensor(keys, "output.weight")}};
}

Json decoder_words(const GgufKeys& keys, double usual_base = 1e4) {
  require_absent(keys, "expert_count", "experts");
  return words_of_all_decoders(keys, usual_base);
}

Json words_with_bias(const GgufKeys& keys, double usual_base = 1e4) {
  Json words = decoder_words(keys, usual_base);
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  return words;
}

Json llama_words(const GgufKeys& keys) {
  Json words = words_with_bias(keys);
  words["mlp_bias"] = has_tensor(keys, "blk.0.ffn_up.bias");
  return words;
}

// Configs of some say no width of a head, unless that is not d_model / heads.
Json without_usual_width(Json words) {
  const auto number = [&](const char* word) { return words[word].get<std::int64_t>(); };
  if (number("head_dim") * number("num_attention_heads") == number("hidden_size")) words.erase("head_dim");
  return words;
}

// Their number, and what a choice may do that qkv does not. `theirs`: what the family's config calls the number.
Json words_with_experts(const GgufKeys& keys, const char* theirs) {
  const std::string gating = key_of(keys, "expert_gating_func");
  if (keys.has(gating) && keys.integer(gating) > 1) keys.refuse(gating, "1: softmax");
  const std::string scale = key_of(keys, "expert_weights_scale");
  if (keys.has(scale) && keys.number(scale) != 0 && keys.number(scale) != 1) keys.refuse(scale, "1");
  const std::string groups = key_of(keys, "expert_group_count");
  if (keys.has(groups) && keys.integer(groups) > 1) keys.refuse(groups, "1: experts are chosen from all");
  Json words = words_of_all_decoders(keys, 1e4);
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

Json qwen2_words(const GgufKeys& keys) { return without_usual_width(decoder_words(keys)); }

Json qwen3_and_gemma_words(const GgufKeys& keys) { return words_with_bias(keys); }

// Of what was made of an f32, the number that is meant.
double by_decimals(double value) {
  constexpr double kDecimals = 1e3;
  const double rounded = std::round(value * kDecimals) / kDecimals;
  return std::fabs(value - rounded) < 1e-6 * value ? rounded : value;
}

// The file does not say by what scores are scaled: by the width of a head, but for models of 27 B.
Json gemma_with_windows(const GgufKeys& keys, std::int64_t layers_of_27b, double usual_base) {
  Json words = words_with_bias(keys, usual_base);
  const auto number = [&](const char* word) { return words[word].get<std::int64_t>(); };
  const bool is_27b = number("num_hidden_layers") == layers_of_27b;
  const std::int64_t heads = number("num_attention_heads");
  words["query_pre_attn_scalar"] = is_27b && heads > 0 ? number("hidden_size") / heads : number("head_dim");
  const std::string scale = key_of(keys, "attention.scale");
  if (keys.has(scale)) {
    if (!(keys.number(scale) > 0)) keys.refuse(scale, "more than 0");
    words["query_pre_attn_scalar"] = by_decimals(1 / (keys.number(scale) * keys.number(scale)));
  }
  words["sliding_window"] = integer_of(keys, "attention.sliding_window");
  return words;
}

Json cap_or_none(const GgufKeys& keys, std::string_view name) {
  const std::string key = key_of(keys, name);
  return keys.has(key) && keys.number(key) != 0 ? Json(keys.number(key)) : Json();
}

Json gemma2_words(const GgufKeys& keys) {
  constexpr std::int64_t kLayersOf27B = 46;
  Json words = gemma_with_windows(keys, kLayersOf27B, 1e4);
  words["attn_logit_softcapping"] = cap_or_none(keys, "attn_logit_softcapping");
  words["final_logit_softcapping"] = cap_or_none(keys, "final_logit_softcapping");
  return words;
}

Json gemma3_words(const GgufKeys& keys) {
  constexpr std::int64_t kLayersOf27B = 62;
  constexpr double kBase = 1e6;
  constexpr double kLocalBase = 1e4;
  Json words = gemma_with_windows(keys, kLayersOf27B, kBase);
  const std::string pattern = key_of(keys, "attention.sliding_window_pattern");
  if (keys.has(pattern)) words["sliding_window_pattern"] = keys.integer(pattern);
  const double local = keys.number(key_of(keys, "rope.freq_base_swa"), kLocalBase);
  words["final_logit_softcapping"] = cap_or_none(keys, "final_logit_softcapping");
  words["rope_parameters"] = {{"full_attention", words["rope_parameters"]},
                              {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
  return words;
}

Json gpt2_words(const GgufKeys& keys) {
  return {{"n_positions", integer_of(keys, "context_length")},
          {"n_layer", layers_of(keys)},
          {"n_embd", integer_of(keys, "embedding_length")},
          {"n_head", of_each_layer(keys, "attention.head_count")},
          {"n_inner", of_each_layer(keys, "feed_forward_length")},
          {"layer_norm_epsilon", keys.number(key_of(keys, "attention.layer_norm_epsilon"))},
          {"tie_word_embeddings", !has_tensor(keys, "output.weight")}};
}

Json bert_words(const GgufKeys& keys) {
  const GgufEntry* types = keys.file().find("token_types.weight");
  const GgufEntry* places = keys.file().find("position_embd.weight");
  const std::string causal = key_of(keys, "attention.causal");
  const bool has_rows = places != nullptr && !places->shape.empty();
  return {{"max_position_embeddings", has_rows ? places->shape.front() : integer_of(keys, "context_length")},
          {"num_hidden_layers", layers_of(keys)},
          {"hidden_size", integer_of(keys, "embedding_length")},
          {"num_attention_heads", of_each_layer(keys, "attention.head_count")},
          {"intermediate_size", of_each_layer(keys, "feed_forward_length")},
          {"layer_norm_eps", keys.number(key_of(keys, "attention.layer_norm_epsilon"))},
          {"is_decoder", keys.flag(causal, false)},
          {"type_vocab_size", types == nullptr || types->shape.empty() ? 0 : types->shape.front()}};
}

Json nomic_words(const GgufKeys& keys) {
  Json words = bert_words(keys);
  if (words.at("is_decoder").get<bool>()) keys.refuse(key_of(keys, "attention.causal"), "false");
  const std::int64_t heads = words.at("num_attention_heads").get<std::int64_t>();
  const std::int64_t of_head = head_width(keys, words.at("hidden_size").get<std::int64_t>(), heads);
  words["head_dim"] = of_head;
  words["rope_parameters"] = gguf_rope(keys, of_head, 1e4);
  return words;
}

Json t5_words(const GgufKeys& keys) {
  const std::int64_t heads = of_each_layer(keys, "attention.head_count");
  const std::int64_t width = integer_of(keys, "embedding_length");
  const std::int64_t layers = layers_of(keys);
  const bool is_tied = !has_tensor(keys, "output.weight");
  const std::string start = key_of(keys, "decoder_start_token_id");
  Json words = {{"num_layers", layers},
                {"num_decoder_layers", keys.integer(key_of(keys, "decoder_block_count"), layers)},
                {"d_model", width},
                {"num_heads", heads},
                {"d_kv", head_width(keys, width, heads)},
                {"d_ff", of_each_layer(keys, "feed_forward_length")},
                {"layer_norm_epsilon", keys.number(key_of(keys, "attention.layer_norm_rms_epsilon"))},
                {"relative_attention_num_buckets", integer_of(keys, "attention.relative_buckets_count")},
                {"feed_forward_proj", has_tensor(keys, "enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu"},
                {"scale_decoder_outputs", is_tied},
                {"tie_word_embeddings", is_tied}};
  if (keys.has(start)) words["decoder_start_token_id"] = keys.integer(start);
  return words;
}

std::span<const WeightName> names_with_experts() {
  static const std::vector<WeightName> kAll = [] {
    std::vector<WeightName> all(std::begin(kGgufDecoder), std::end(kGgufDecoder));
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

const auto& gguf_families() {
  static const std::array kFamilies = {
      GgufFamily{"llama", "llama", llama_words, kGgufDecoder, "LlamaForCausalLM", GgufChange::interleaved_heads,
                 "mistral"},
      GgufFamily{"qwen2", "qwen2", qwen2_words, kGgufDecoder, "Qwen2ForCausalLM"},
      GgufFamily{"qwen3", "qwen3", qwen3_and_gemma_words, kGgufDecoder, "Qwen3ForCausalLM"},
      GgufFamily{"gemma", "gemma", qwen3_and_gemma_words, kGgufDecoder, "GemmaForCausalLM", GgufChange::norms_plus_one},
      GgufFamily{"gemma2", "gemma2", gemma2_words, kGgufDecoder, "Gemma2ForCausalLM", GgufChange::norms_plus_one},
      GgufFamily{"gemma3", "gemma3_text", gemma3_words, kGgufDecoder, "Gemma3ForCausalLM", GgufChange::norms_plus_one},
      GgufFamily{"gpt2", "gpt2", gpt2_words, kGgufGpt2, "GPT2LMHeadModel"},
      GgufFamily{"bert", "bert", bert_words, kGgufBert, "BertModel"},
      GgufFamily{"nomic-bert", "nomic_bert", nomic_words, kGgufNomic, "NomicBertModel"},
      GgufFamily{"t5", "t5", t5_words, kGgufT5, "T5ForConditionalGeneration"},
      with_experts("llama", "mixtral", mixtral_words, "MixtralForCausalLM", GgufChange::interleaved_heads),
      with_experts("olmoe", "olmoe", olmoe_words, "OlmoeForCausalLM"),
      with_experts("qwen2moe", "qwen2_moe", qwen2_moe_words, "Qwen2MoeForCausalLM"),
      with_experts("qwen3moe", "qwen3_moe", qwen3_moe_words, "Qwen3MoeForCausalLM"),
  };
  return kFamilies;
}

}  // namespace

std::string key_of(const files::GgufKeys& keys, std::string_view name) {
  return keys.text("general.architecture") + "." + std::string(name);
}

const GgufFamily& gguf_family_for(const std::string& model_type, const std::string& source) {
  std::vector<std::string_view> names;
  for (const GgufFamily& family : gguf_families()) {
    if (family.has_experts) continue;
    for (const std::string_view type : {family.model_type, family.also}) {
      if (type.empty()) continue;
      if (type == model_type) return family;
      names.push_back(type);
    }
  }
  throw FileError(source, "model_type: expected one that GGUF has an architecture for, " + core::joined(names) +
                              ", got " + model_type);
}

const GgufFamily& gguf_family_of(const files::GgufKeys& keys) {
  constexpr std::string_view kKey = "general.architecture";
  const std::string& name = keys.text(kKey);
  const std::string experts = key_of(keys, "expert_count");
  const bool has_experts = keys.has(experts) && keys.integer(experts) != 0;
  std::vector<std::string_view> names;
  const GgufFamily* found = nullptr;
  for (const GgufFamily& family : gguf_families()) {
    if (family.architecture == name) {
      if (family.has_experts == has_experts) return family;
      found = &family;
    }
    if (std::ranges::find(names, family.architecture) == names.end()) names.push_back(family.architecture);
  }
  if (found != nullptr) return *found;
  keys.refuse(kKey, "one of the architectures " + core::joined(names));
}

}  // namespace qkv::families
