// DeBERTa of versions 2 and 3 (He et al. 2021): BERT whose scores add those of distances, by a table that all layers
// share.
#include <algorithm>
#include <cmath>

#include "model/families/bert_options.h"
#include "model/families/family.h"

namespace qkv::families {
namespace {

// The head of `legacy` models, and that of others.
constexpr WeightName kDebertaNames[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "positions", .theirs = "embeddings.position_embeddings"},
    {.ours = "types", .theirs = "embeddings.token_type_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm"},
    {.ours = "relative", .theirs = "encoder.rel_embeddings"},
    {.ours = "ln_relative", .theirs = "encoder.LayerNorm"},
    {.ours = "blocks.#.attn.q", .theirs = "encoder.layer.#.attention.self.query_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "encoder.layer.#.attention.self.key_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "encoder.layer.#.attention.self.value_proj"},
    {.ours = "blocks.#.attn.relative_k", .theirs = "encoder.layer.#.attention.self.pos_key_proj"},
    {.ours = "blocks.#.attn.relative_q", .theirs = "encoder.layer.#.attention.self.pos_query_proj"},
    {.ours = "blocks.#.attn.out", .theirs = "encoder.layer.#.attention.output.dense"},
    {.ours = "blocks.#.ln1", .theirs = "encoder.layer.#.attention.output.LayerNorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.intermediate.dense"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.output.dense"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.layer.#.output.LayerNorm"},
    {.ours = "head.dense", .theirs = "cls.predictions.transform.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "cls.predictions.transform.LayerNorm", .in_head = true},
    {.ours = "head", .theirs = "cls.predictions.decoder", .otherwise = "cls.predictions", .in_head = true},
    {.ours = "head.dense", .theirs = "lm_predictions.lm_head.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "lm_predictions.lm_head.LayerNorm", .in_head = true},
    {.ours = "head", .theirs = "lm_predictions.lm_head", .in_head = true},
    {.ours = "output", .theirs = "cls.predictions.decoder", .in_head = true},
};
// The norm over the table is stored without the table, too.
constexpr std::string_view kDebertaUnused[] = {"*pooler.*",
                                               "*encoder.LayerNorm.*",
                                               "*position_ids",
                                               "*embeddings.position_embeddings.weight",
                                               "cls.predictions.*bias",
                                               "cls.predictions.decoder.weight",
                                               "mask_predictions.*"};

bool says(const ConfigFile& config, std::string_view word, std::string_view part) {
  if (!config.has(word)) return false;
  if (config.has_list(word)) {
    const std::vector<std::string> all = config.texts(word);
    return std::ranges::find(all, part) != all.end();
  }
  const std::string text = "|" + config.text(word) + "|";
  return text.find("|" + std::string(part) + "|") != std::string::npos;
}

RelativeScores relative_in(const ConfigFile& config, std::int64_t length) {
  constexpr std::string_view kTypes = "pos_att_type";
  RelativeScores relative{.of_queries = says(config, kTypes, "c2p"), .of_keys = says(config, kTypes, "p2c")};
  const auto whole = [&](std::string_view word) {
    const double number = config.number(word, -1);
    return number < 1 ? std::int64_t{0} : config.integer(word);
  };
  const std::int64_t longest = whole("max_relative_positions");
  const std::int64_t buckets = whole("position_buckets");
  const bool has_maps = !config.flag("share_att_key", false);
  if (!config.flag("relative_attention", false)) return relative;
  relative.longest = longest > 0 ? longest : length;
  relative.buckets = buckets;
  relative.span = buckets > 0 ? buckets : relative.longest;
  relative.has_maps = has_maps;
  return relative;
}

Model::Network deberta_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("conv_kernel_size", 0);
  EncoderOptions options = bert_options(config);
  if (config.integer("embedding_size", options.d_model) != options.d_model) {
    config.refuse("embedding_size", "hidden_size, " + std::to_string(options.d_model));
  }
  if (config.has("attention_head_size") && config.integer("attention_head_size") * options.heads != options.d_model) {
    config.refuse("attention_head_size", "hidden_size divided by num_attention_heads");
  }
  options.types = config.integer("type_vocab_size", 0);
  options.positions = config.flag("position_biased_input", true) ? Positions::learned : Positions::none;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-7);
  options.relative = relative_in(config, options.length);
  options.relative_norm = options.relative.span > 0 && says(config, "norm_rel_ebd", "layer_norm");
  if (options.heads < 1) return Encoder(options, init, dtype);  // which refuses it
  const int parts = 1 + (options.relative.of_queries ? 1 : 0) + (options.relative.of_keys ? 1 : 0);
  const double width = static_cast<double>(options.d_model) / static_cast<double>(options.heads);
  if (parts > 1) options.choices.scale = 1 / std::sqrt(width * parts);
  return Encoder(options, init, dtype);
}

}  // namespace

std::span<const Family> deberta_families() {
  static constexpr Family kFamilies[] = {
      {.type = "deberta-v2",
       .prefix = "deberta.",
       .network = deberta_network,
       .names = kDebertaNames,
       .unused = kDebertaUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
