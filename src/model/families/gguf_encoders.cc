// Architectures of encoders, and of T5.
#include <nlohmann/json.hpp>

#include "model/families/gguf_family.h"
#include "model/families/gguf_metadata.h"
#include "model/families/gguf_names.h"
#include "model/families/gguf_rotary.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

constexpr WeightName kBertInputAndNorms[] = {
    {.ours = "types", .theirs = "token_types"},
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_output_norm"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.layer_output_norm"},
};
constexpr WeightName kBertPositions[] = {{.ours = "positions", .theirs = "position_embd"}};
constexpr auto kGgufBert = joined_names(kGgufBody, kBertPositions, kBertInputAndNorms, kGgufQkv, kGgufFeedForward);

constexpr WeightName kNomicGate[] = {{.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_gate"}};
constexpr auto kGgufNomic = joined_names(kGgufBody, kBertInputAndNorms, kGgufThirds, kNomicGate, kGgufFeedForward);

constexpr WeightName kModernbertEnds[] = {
    {.ours = "ln_embedding", .theirs = "token_embd_norm"},
    {.ours = "ln_final", .theirs = "output_norm"},
};
constexpr auto kGgufModernbert = joined_names(kGgufBody, kModernbertEnds, kGgufNorms, kGgufThirds, kGgufFusedGate);
// llama.cpp has no biases here, and its norms have none.
constexpr std::string_view kModernbertUnknown[] = {"blk.0.attn_qkv.bias", "blk.0.ffn_up.bias", "output_norm.bias"};

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

// Those of BERT, of an encoder alone, with heads that turn.
Json rotary_words(const GgufKeys& keys, double usual_base) {
  Json words = bert_words(keys);
  if (words.at("is_decoder").get<bool>()) keys.refuse(key_of(keys, "attention.causal"), "false");
  const auto number = [&](const char* word) { return words.at(word).get<std::int64_t>(); };
  const std::int64_t of_head = head_width(keys, number("hidden_size"), number("num_attention_heads"));
  words["head_dim"] = of_head;
  words["rope_parameters"] = gguf_rope(keys, of_head, usual_base);
  return words;
}

Json nomic_words(const GgufKeys& keys) { return rotary_words(keys, 1e4); }

// The first of three layers sees all; the other two see a window and turn by a base of their own.
Json modernbert_words(const GgufKeys& keys) {
  constexpr std::int64_t kEvery = 3;
  Json words = rotary_words(keys, 1.6e5);
  words["rope_parameters"] = rope_by_layer(keys, words["rope_parameters"]);
  words["local_attention"] = integer_of(keys, "attention.sliding_window");
  words["global_attn_every_n_layers"] = keys.integer(key_of(keys, "attention.sliding_window_pattern"), kEvery);
  words["hidden_activation"] = keys.text(key_of(keys, "hidden_activation"), "gelu");
  words["norm_eps"] = words.at("layer_norm_eps");
  for (const char* word : {"layer_norm_eps", "is_decoder", "type_vocab_size", "head_dim"}) words.erase(word);
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

}  // namespace

std::span<const GgufFamily> gguf_encoders() {
  static constexpr GgufFamily kFamilies[] = {
      {"bert", "bert", bert_words, kGgufBert, "BertModel"},
      {"nomic-bert", "nomic_bert", nomic_words, kGgufNomic, "NomicBertModel"},
      {"modern-bert",
       "modernbert",
       modernbert_words,
       kGgufModernbert,
       "ModernBertModel",
       GgufChange::none,
       {},
       kModernbertUnknown},
      {"t5", "t5", t5_words, kGgufT5, "T5ForConditionalGeneration"},
  };
  return kFamilies;
}

}  // namespace qkv::families
