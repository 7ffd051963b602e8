// Architectures of Llama and what is like it, without experts.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"

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

// q, k and v are in one, gate and up in another; files of other converters have q, k and v by themselves.
constexpr WeightName kGgufPhi3[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .fused = Fused::rows},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .fused = Fused::rows},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .fused = Fused::rows},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_q"},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_k"},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_v"},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.ffn_norm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_up", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

// What llama.cpp asks for, or does not know.
constexpr std::string_view kOutput[] = {"output.weight"};
constexpr std::string_view kBiasedFeedForward[] = {"blk.0.attn_output.bias", "blk.0.ffn_up.bias"};
constexpr std::string_view kOutBias[] = {"blk.0.attn_output.bias"};
constexpr std::string_view kOutBiasOrOutput[] = {"blk.0.attn_output.bias", "output.weight"};

Json llama_words(const GgufKeys& keys) {
  Json words = words_with_bias(keys);
  words["mlp_bias"] = has_tensor(keys, "blk.0.ffn_up.bias");
  return words;
}

Json qwen2_words(const GgufKeys& keys) { return without_usual_width(decoder_words(keys)); }

Json usual_words(const GgufKeys& keys) { return words_with_bias(keys); }

Json granite_words(const GgufKeys& keys) {
  Json words = llama_words(keys);
  add_factors(keys, words);
  return without_usual_width(words);
}

// Every fourth layer does not turn.
Json smollm3_words(const GgufKeys& keys) {
  Json words = without_usual_width(llama_words(keys));
  words["no_rope_layer_interval"] = 4;
  return words;
}

Json olmo2_words(const GgufKeys& keys) { return without_usual_width(words_with_bias(keys)); }

Json phi3_words(const GgufKeys& keys) {
  Json words = without_usual_width(decoder_words(keys, {.turned = TurnedPart::as_said}));
  const std::int64_t window = keys.integer(key_of(keys, "attention.sliding_window"), 0);
  words["sliding_window"] = window > 0 ? Json(window) : Json();
  return words;
}

Json starcoder2_words(const GgufKeys& keys) {
  Json words = without_usual_width(decoder_words(keys, {.epsilon = "norm_epsilon"}));
  words["use_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  return words;
}

Json stablelm_words(const GgufKeys& keys) {
  Json words = without_usual_width(decoder_words(keys, {.epsilon = "layer_norm_eps", .turned = TurnedPart::as_said}));
  words["use_qkv_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  words["use_parallel_residual"] = !has_tensor(keys, "blk.0.ffn_norm.weight");
  return words;
}

Json phi_words(const GgufKeys& keys) {
  return without_usual_width(decoder_words(keys, {.epsilon = "layer_norm_eps", .turned = TurnedPart::as_said}));
}

Json scaled_logit_words(const GgufKeys& keys) {
  Json words = words_with_bias(keys, {.epsilon = "layer_norm_eps"});
  words["logit_scale"] = factor_of(keys, "logit_scale");
  return words;
}

Json cohere_words(const GgufKeys& keys) { return without_usual_width(scaled_logit_words(keys)); }

Json cohere2_words(const GgufKeys& keys) {
  constexpr std::int64_t kEvery = 4;
  Json words = scaled_logit_words(keys);
  words["sliding_window"] = integer_of(keys, "attention.sliding_window");
  words["layer_types"] = layer_types_of(keys, kEvery);
  return words;
}

// Of what was made of an f32, the number that is meant.
double by_decimals(double value) {
  constexpr double kDecimals = 1e3;
  const double rounded = std::round(value * kDecimals) / kDecimals;
  return std::fabs(value - rounded) < 1e-6 * value ? rounded : value;
}

// The file does not say by what scores are scaled: by the width of a head, but for models of 27 B.
Json gemma_with_windows(const GgufKeys& keys, std::int64_t layers_of_27b, double usual_base) {
  Json words = words_with_bias(keys, {.base = usual_base});
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
  constexpr std::int64_t kEvery = 6;
  constexpr double kBase = 1e6;
  constexpr double kLocalBase = 1e4;
  Json words = gemma_with_windows(keys, kLayersOf27B, kBase);
  words["layer_types"] = layer_types_of(keys, kEvery);
  const double local = keys.number(key_of(keys, "rope.freq_base_swa"), kLocalBase);
  words["final_logit_softcapping"] = cap_or_none(keys, "final_logit_softcapping");
  words["rope_parameters"] = {{"full_attention", words["rope_parameters"]},
                              {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
  return words;
}

}  // namespace

std::span<const WeightName> gguf_decoder_names() { return kGgufDecoder; }

std::span<const GgufFamily> gguf_decoders() {
  constexpr auto kPairs = GgufChange::interleaved_heads;
  constexpr auto kPlusOne = GgufChange::norms_plus_one;
  static const GgufFamily kFamilies[] = {
      {.architecture = "llama",
       .model_type = "llama",
       .config = llama_words,
       .names = kGgufDecoder,
       .class_name = "LlamaForCausalLM",
       .change = kPairs,
       .also = "mistral"},
      {.architecture = "qwen2",
       .model_type = "qwen2",
       .config = qwen2_words,
       .names = kGgufDecoder,
       .class_name = "Qwen2ForCausalLM"},
      {.architecture = "qwen3",
       .model_type = "qwen3",
       .config = usual_words,
       .names = kGgufDecoder,
       .class_name = "Qwen3ForCausalLM",
       .unknown = kOutBias},
      {.architecture = "gemma",
       .model_type = "gemma",
       .config = usual_words,
       .names = kGgufDecoder,
       .class_name = "GemmaForCausalLM",
       .change = kPlusOne,
       .unknown = kOutBias},
      {.architecture = "gemma2",
       .model_type = "gemma2",
       .config = gemma2_words,
       .names = kGgufDecoder,
       .class_name = "Gemma2ForCausalLM",
       .change = kPlusOne,
       .unknown = kOutBias},
      {.architecture = "gemma3",
       .model_type = "gemma3_text",
       .config = gemma3_words,
       .names = kGgufDecoder,
       .class_name = "Gemma3ForCausalLM",
       .change = kPlusOne,
       .unknown = kOutBias},
      {.architecture = "granite",
       .model_type = "granite",
       .config = granite_words,
       .names = kGgufDecoder,
       .class_name = "GraniteForCausalLM",
       .change = kPairs},
      {.architecture = "smollm3",
       .model_type = "smollm3",
       .config = smollm3_words,
       .names = kGgufDecoder,
       .class_name = "SmolLM3ForCausalLM",
       .change = kPairs,
       .unknown = kBiasedFeedForward},
      {.architecture = "olmo2",
       .model_type = "olmo2",
       .config = olmo2_words,
       .names = kGgufDecoder,
       .class_name = "Olmo2ForCausalLM",
       .needed = kOutput,
       .unknown = kOutBias},
      {.architecture = "phi3",
       .model_type = "phi3",
       .config = phi3_words,
       .names = kGgufPhi3,
       .class_name = "Phi3ForCausalLM"},
      {.architecture = "phi2",
       .model_type = "phi",
       .config = phi_words,
       .names = kGgufDecoder,
       .class_name = "PhiForCausalLM",
       .needed = kOutput},
      {.architecture = "starcoder2",
       .model_type = "starcoder2",
       .config = starcoder2_words,
       .names = kGgufDecoder,
       .class_name = "Starcoder2ForCausalLM",
       .needed = kBiasedFeedForward},
      {.architecture = "stablelm",
       .model_type = "stablelm",
       .config = stablelm_words,
       .names = kGgufDecoder,
       .class_name = "StableLmForCausalLM",
       .needed = kOutput},
      {.architecture = "command-r",
       .model_type = "cohere",
       .config = cohere_words,
       .names = kGgufDecoder,
       .class_name = "CohereForCausalLM",
       .unknown = kOutBiasOrOutput},
      {.architecture = "cohere2",
       .model_type = "cohere2",
       .config = cohere2_words,
       .names = kGgufDecoder,
       .class_name = "Cohere2ForCausalLM",
       .unknown = kOutBiasOrOutput},
  };
  return kFamilies;
}

}  // namespace qkv::families
