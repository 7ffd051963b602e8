// Architectures with q, k and v of all heads in one: GPT-2 and what came after it.
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

constexpr WeightName kGgufGpt[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "positions", .theirs = "position_embd"},
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .fused = Fused::rows},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .fused = Fused::rows},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .fused = Fused::rows},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.ffn_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

// Of two norms that of attention is the second one.
constexpr WeightName kGgufFalcon[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm_2", .otherwise = "blk.#.attn_norm"},
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .fused = Fused::rows},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .fused = Fused::rows},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .fused = Fused::rows},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

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

// A feed-forward layer four times as wide as the model is all that these two have.
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
  static const GgufFamily kFamilies[] = {
      {.architecture = "gpt2",
       .model_type = "gpt2",
       .config = gpt2_words,
       .names = kGgufGpt,
       .class_name = "GPT2LMHeadModel"},
      {.architecture = "starcoder",
       .model_type = "gpt_bigcode",
       .config = gpt_bigcode_words,
       .names = kGgufGpt,
       .class_name = "GPTBigCodeForCausalLM",
       .needed = kQkvBias},
      {.architecture = "gptneox",
       .model_type = "gpt_neox",
       .config = gpt_neox_words,
       .names = kGgufGpt,
       .class_name = "GPTNeoXForCausalLM",
       .needed = kNeoxNeeds},
      {.architecture = "falcon",
       .model_type = "falcon",
       .config = falcon_words,
       .names = kGgufFalcon,
       .class_name = "FalconForCausalLM",
       .unknown = kQkvBias},
      {.architecture = "bloom",
       .model_type = "bloom",
       .config = bloom_words,
       .names = kGgufGpt,
       .class_name = "BloomForCausalLM",
       .needed = kQkvBias},
      {.architecture = "mpt",
       .model_type = "mpt",
       .config = mpt_words,
       .names = kGgufGpt,
       .class_name = "MptForCausalLM"},
  };
  return kFamilies;
}

}  // namespace qkv::families
