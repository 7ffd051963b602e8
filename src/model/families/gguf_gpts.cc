// Architectures with q, k and v of all heads in one: GPT-2 and what came after it.
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"
#include "model/families/gguf_names.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

constexpr WeightName kGptInput[] = {
    {.ours = "positions", .theirs = "position_embd"},
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
};
constexpr auto kGgufGpt = joined_names(kGgufBody, kGptInput, kGgufNorms, kGgufFusedQkv, kGgufFeedForward, kGgufOutput);

// Where there are two norms, attention has the second.
constexpr WeightName kFalconNorms[] = {
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm_2", .otherwise = "blk.#.attn_norm"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.attn_norm"},
};
constexpr auto kGgufFalcon = joined_names(kGgufBody, kFalconNorms, kGgufFusedQkv, kGgufFeedForward, kGgufOutput);

constexpr std::string_view kNeoxNeeds[] = {"output.weight", "blk.0.attn_qkv.bias"};
constexpr std::string_view kQkvBias[] = {"blk.0.attn_qkv.bias"};

Json gpt2_words(const GgufKeys& keys) {
  return {{"n_positions", integer_of(keys, "context_length")},
          {"n_layer", layers_of(keys)},
          {"n_embd", integer_of(keys, "embedding_length")},
          {"n_head", of_each_layer(keys, "attention.head_count")},
          {"n_inner", of_each_layer(keys, "feed_forward_length")},
          {"layer_norm_epsilon", keys.number(key_of(keys, "attention.layer_norm_epsilon"))},
          {"tie_word_embeddings", !has_tensor(keys, "output.weight")}};
}

Json gpt_bigcode_words(const GgufKeys& keys) {
  Json words = gpt2_words(keys);
  const std::int64_t heads = words.at("n_head").get<std::int64_t>();
  const std::int64_t kv_heads = of_each_layer(keys, "attention.head_count_kv", heads);
  if (kv_heads != 1 && kv_heads != heads)
    keys.refuse(key_of(keys, "attention.head_count_kv"), "1, or those of queries");
  words["multi_query"] = kv_heads == 1;
  return words;
}

Json gpt_neox_words(const GgufKeys& keys) {
  Json words = decoder_words(keys, {.epsilon = "layer_norm_eps", .turned = TurnedPart::as_said});
  words["use_parallel_residual"] = keys.flag(key_of(keys, "use_parallel_residual"), true);
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_qkv.bias");
  return words;
}

// In the words of the newer of its two programs, which has all that the older one has, but one head of keys for all.
Json falcon_words(const GgufKeys& keys) {
  const Json all = decoder_words(keys, {.epsilon = "layer_norm_epsilon"});
  const std::int64_t kv_heads = all.at("num_key_value_heads").get<std::int64_t>();
  const bool has_two_norms = has_tensor(keys, "blk.0.attn_norm_2.weight");
  Json words = {{"new_decoder_architecture", kv_heads > 1 || has_two_norms},
                {"num_ln_in_parallel_attn", has_two_norms ? 2 : 1},
                {"num_kv_heads", kv_heads},
                {"multi_query", kv_heads == 1},
                {"parallel_attn", true},
                {"bias", has_tensor(keys, "blk.0.attn_qkv.bias")},
                {"ffn_hidden_size", all.at("intermediate_size")}};
  for (const char* word : {"max_position_embeddings", "num_hidden_layers", "hidden_size", "num_attention_heads",
                           "layer_norm_epsilon", "rope_parameters", "tie_word_embeddings"}) {
    words[word] = all.at(word);
  }
  return words;
}

// Configs of these two have no word for the width of a feed-forward layer, which is four times that of the model.
Json without_positions(const GgufKeys& keys) {
  Json words = decoder_words(keys, {.epsilon = "layer_norm_epsilon", .turned = TurnedPart::none});
  const std::int64_t width = words.at("hidden_size").get<std::int64_t>();
  if (words.at("intermediate_size") != 4 * width) {
    keys.refuse(key_of(keys, "feed_forward_length"), std::to_string(4 * width) + ", four times embedding_length");
  }
  if (words.at("num_key_value_heads") != words.at("num_attention_heads")) {
    keys.refuse(key_of(keys, "attention.head_count_kv"), "that of queries");
  }
  return words;
}

Json bloom_words(const GgufKeys& keys) {
  const Json all = without_positions(keys);
  return {{"seq_length", all.at("max_position_embeddings")},
          {"n_layer", all.at("num_hidden_layers")},
          {"hidden_size", all.at("hidden_size")},
          {"n_head", all.at("num_attention_heads")},
          {"layer_norm_epsilon", all.at("layer_norm_epsilon")},
          {"tie_word_embeddings", all.at("tie_word_embeddings")}};
}

Json mpt_words(const GgufKeys& keys) {
  const Json all = without_positions(keys);
  constexpr double kSteepest = 8;
  const std::string alibi = key_of(keys, "attention.max_alibi_bias");
  if (keys.number(alibi, kSteepest) != kSteepest) keys.refuse(alibi, "8");
  const std::string clamp = key_of(keys, "attention.clamp_kqv");
  if (keys.number(clamp, 0) != 0) keys.refuse(clamp, "0: qkv computes no clipped q, k and v");
  return {{"max_seq_len", all.at("max_position_embeddings")},
          {"n_layers", all.at("num_hidden_layers")},
          {"d_model", all.at("hidden_size")},
          {"n_heads", all.at("num_attention_heads")},
          {"layer_norm_epsilon", all.at("layer_norm_epsilon")},
          {"tie_word_embeddings", all.at("tie_word_embeddings")},
          {"no_bias", true},
          {"attn_config", {{"alibi", true}}}};
}

}  // namespace

std::span<const GgufFamily> gguf_gpts() {
  constexpr auto kAsIs = GgufChange::none;
  static constexpr GgufFamily kFamilies[] = {
      {"gpt2", "gpt2", gpt2_words, kGgufGpt, "GPT2LMHeadModel"},
      {"starcoder", "gpt_bigcode", gpt_bigcode_words, kGgufGpt, "GPTBigCodeForCausalLM", kAsIs, kQkvBias},
      {"gptneox", "gpt_neox", gpt_neox_words, kGgufGpt, "GPTNeoXForCausalLM", kAsIs, kNeoxNeeds},
      {"falcon", "falcon", falcon_words, kGgufFalcon, "FalconForCausalLM", kAsIs, {}, kQkvBias},
      {"bloom", "bloom", bloom_words, kGgufGpt, "BloomForCausalLM", kAsIs, kQkvBias},
      {"mpt", "mpt", mpt_words, kGgufGpt, "MptForCausalLM"},
  };
  return kFamilies;
}

}  // namespace qkv::families
