// Architectures of Llama and what is like it, without experts.
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"
#include "model/families/gguf_names.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

constexpr auto kGgufDecoder =
    joined_names(kGgufBody, kGgufNorms, kGgufQkv, kGgufFeedForward, kGgufGatedRest, kGgufOutput);
// q, k and v are in one; files of other converters have them by themselves.
constexpr auto kGgufPhi3 = joined_names(kGgufBody, kGgufNorms, kGgufFusedQkv, kGgufQkv, kGgufFusedGate, kGgufOutput);

// What llama.cpp asks for, or does not know.
constexpr std::string_view kBiasedFeedForward[] = {"blk.0.attn_output.bias", "blk.0.ffn_up.bias"};
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

// OLMo 3 has the same architecture, and windows.
Json olmo2_words(const GgufKeys& keys) {
  require_absent(keys, "attention.sliding_window", "OLMo's layers that see windows");
  return without_usual_width(words_with_bias(keys));
}

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

// The decimals that are meant by a number computed from an f32: 168 for 168.00002.
double by_decimals(double value) {
  constexpr double kDecimals = 1e3;
  const double rounded = std::round(value * kDecimals) / kDecimals;
  return std::fabs(value - rounded) < 1e-6 * value ? rounded : value;
}

// Without attention.scale scores are scaled by the width of a head, in models of 27 B by d_model / heads.
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
  Json words = gemma_with_windows(keys, kLayersOf27B, kBase);
  words["layer_types"] = layer_types_of(keys, kEvery);
  words["final_logit_softcapping"] = cap_or_none(keys, "final_logit_softcapping");
  words["rope_parameters"] = rope_by_layer(keys, words["rope_parameters"]);
  return words;
}

}  // namespace

std::span<const GgufFamily> gguf_decoders() {
  constexpr auto kAsIs = GgufChange::none;
  constexpr auto kPairs = GgufChange::interleaved_heads;
  constexpr auto kPlusOne = GgufChange::norms_plus_one;
  static constexpr GgufFamily kFamilies[] = {
      {"llama", "llama", llama_words, kGgufDecoder, "LlamaForCausalLM", kPairs, {}, {}, "mistral"},
      {"qwen2", "qwen2", qwen2_words, kGgufDecoder, "Qwen2ForCausalLM"},
      {"qwen3", "qwen3", usual_words, kGgufDecoder, "Qwen3ForCausalLM", kAsIs, {}, kOutBias},
      {"gemma", "gemma", usual_words, kGgufDecoder, "GemmaForCausalLM", kPlusOne, {}, kOutBias},
      {"gemma2", "gemma2", gemma2_words, kGgufDecoder, "Gemma2ForCausalLM", kPlusOne, {}, kOutBias},
      {"gemma3", "gemma3_text", gemma3_words, kGgufDecoder, "Gemma3ForCausalLM", kPlusOne, {}, kOutBias},
      {"granite", "granite", granite_words, kGgufDecoder, "GraniteForCausalLM", kPairs},
      {"smollm3", "smollm3", smollm3_words, kGgufDecoder, "SmolLM3ForCausalLM", kPairs, {}, kBiasedFeedForward},
      {"olmo2", "olmo2", olmo2_words, kGgufDecoder, "Olmo2ForCausalLM", kAsIs, kOutputWeight, kOutBias},
      {"phi3", "phi3", phi3_words, kGgufPhi3, "Phi3ForCausalLM"},
      {"phi2", "phi", phi_words, kGgufDecoder, "PhiForCausalLM", kAsIs, kOutputWeight},
      {"starcoder2", "starcoder2", starcoder2_words, kGgufDecoder, "Starcoder2ForCausalLM", kAsIs, kBiasedFeedForward},
      {"stablelm", "stablelm", stablelm_words, kGgufDecoder, "StableLmForCausalLM", kAsIs, kOutputWeight},
      {"command-r", "cohere", cohere_words, kGgufDecoder, "CohereForCausalLM", kAsIs, {}, kOutBiasOrOutput},
      {"cohere2", "cohere2", cohere2_words, kGgufDecoder, "Cohere2ForCausalLM", kAsIs, {}, kOutBiasOrOutput},
  };
  return kFamilies;
}

}  // namespace qkv::families
