// BERT (Devlin et al. 2019) and its relatives: post-norm, learned positions, every token sees every other.
#include <algorithm>
#include <array>

#include "model/families/bert_names.h"
#include "model/families/bert_options.h"
#include "model/families/family.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

constexpr WeightName kBertHead[] = {
    {.ours = "head.dense", .theirs = "cls.predictions.transform.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "cls.predictions.transform.LayerNorm", .in_head = true},
    {.ours = "head", .theirs = "cls.predictions.decoder", .otherwise = "cls.predictions", .in_head = true},
    {.ours = "output", .theirs = "cls.predictions.decoder", .in_head = true},
};
constexpr auto kBertNames = joined_names(kBertBody, kBertHead);
// The vector of the first token for a task of pairs, counted numbers, and the table once more.
constexpr std::string_view kBertUnused[] = {"*pooler.*",
                                            "*position_ids",
                                            "*token_type_ids",
                                            "cls.predictions.*bias",
                                            "cls.predictions.decoder.weight",
                                            "cls.seq_relationship.*"};

// As BERT, but that the positions before that of the padding are never used and the head is called otherwise.
constexpr auto kRobertaNames = [] {
  std::array<WeightName, std::size(kBertNames)> names{};
  std::ranges::copy(kBertNames, names.begin());
  for (WeightName& name : names) {
    if (name.ours == "positions") name.behind_padding = true;
    if (name.ours == "head.dense") name.theirs = "lm_head.dense";
    if (name.ours == "head.ln") name.theirs = "lm_head.layer_norm";
    if (name.ours == "head") name.theirs = "lm_head.decoder";
    if (name.ours == "head") name.otherwise = "lm_head";
    if (name.ours == "output") name.theirs = "lm_head.decoder";
  }
  return names;
}();
constexpr std::string_view kRobertaUnused[] = {"*pooler.*", "*position_ids", "*token_type_ids", "lm_head.bias",
                                               "lm_head.decoder.weight"};

constexpr WeightName kDistilbertNames[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "positions", .theirs = "embeddings.position_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm"},
    {.ours = "blocks.#.attn.q", .theirs = "transformer.layer.#.attention.q_lin"},
    {.ours = "blocks.#.attn.k", .theirs = "transformer.layer.#.attention.k_lin"},
    {.ours = "blocks.#.attn.v", .theirs = "transformer.layer.#.attention.v_lin"},
    {.ours = "blocks.#.attn.out", .theirs = "transformer.layer.#.attention.out_lin"},
    {.ours = "blocks.#.ln1", .theirs = "transformer.layer.#.sa_layer_norm"},
    {.ours = "blocks.#.ffn.up", .theirs = "transformer.layer.#.ffn.lin1"},
    {.ours = "blocks.#.ffn.down", .theirs = "transformer.layer.#.ffn.lin2"},
    {.ours = "blocks.#.ln2", .theirs = "transformer.layer.#.output_layer_norm"},
    {.ours = "head.dense", .theirs = "vocab_transform", .in_head = true},
    {.ours = "head.ln", .theirs = "vocab_layer_norm", .in_head = true},
    {.ours = "head", .theirs = "vocab_projector", .in_head = true},
    {.ours = "output", .theirs = "vocab_projector", .in_head = true},
};
constexpr std::string_view kDistilbertUnused[] = {"*position_ids", "vocab_projector.weight"};

}  // namespace

EncoderOptions encoder_sizes(const ConfigFile& config) {
  return {.vocabulary = config.integer("vocab_size"),
          .length = config.integer("max_position_embeddings"),
          .layers = config.layers("num_hidden_layers"),
          .d_model = config.integer("hidden_size"),
          .heads = config.integer("num_attention_heads"),
          .d_ff = config.integer("intermediate_size"),
          .tied = config.flag("tie_word_embeddings", true),
          .embedding = EmbeddingScale::normed,
          .head = head_in(config)};
}

EncoderOptions bert_options(const ConfigFile& config) {
  config.require("position_embedding_type", "absolute");
  config.require("add_cross_attention", false);
  const bool is_causal = config.flag("is_decoder", false);
  EncoderOptions options = encoder_sizes(config);
  options.positions = Positions::learned;
  options.order = NormOrder::post;
  options.activation = activation_in(config, "hidden_act", "gelu");
  options.self_attention = is_causal ? SelfAttention::causal : SelfAttention::full;
  options.choices.epsilon = config.number("layer_norm_eps", 1e-12);
  return options;
}

void count_from_padding(const ConfigFile& config, std::int64_t padding, EncoderOptions& options) {
  if (padding >= options.vocabulary || padding + 1 >= options.length) {
    config.refuse("pad_token_id", "a token, and a position of max_position_embeddings");
  }
  options.length -= padding + 1;
  options.placeless = padding;
}

namespace {

Model::Network bert_network(const ConfigFile& config, const Init& init, DType dtype) {
  EncoderOptions options = bert_options(config);
  options.types = config.integer("type_vocab_size", 2);
  return Encoder(options, init, dtype);
}

std::int64_t padding_in(const ConfigFile& config) { return config.integer("pad_token_id", 1); }

// The head has an activation of its own, whatever that of the layers is.
Model::Network roberta_network(const ConfigFile& config, const Init& init, DType dtype) {
  EncoderOptions options = bert_options(config);
  options.types = config.integer("type_vocab_size", 2);
  count_from_padding(config, padding_in(config), options);
  options.head_activation = Activation::gelu;
  return Encoder(options, init, dtype);
}

Model::Network distilbert_network(const ConfigFile& file, const Init& init, DType dtype) {
  const ConfigFile config = file.renamed("n_layers", "num_hidden_layers")
                                .renamed("dim", "hidden_size")
                                .renamed("n_heads", "num_attention_heads");
  EncoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("max_position_embeddings"),
                         .layers = config.layers("n_layers"),
                         .d_model = config.integer("dim"),
                         .heads = config.integer("n_heads"),
                         .d_ff = config.integer("hidden_dim"),
                         .positions = Positions::learned,
                         .tied = config.flag("tie_word_embeddings", true),
                         .order = NormOrder::post,
                         .embedding = EmbeddingScale::normed,
                         .activation = activation_in(config, "activation", "gelu"),
                         .head = head_in(config)};
  options.choices.epsilon = 1e-12;
  return Encoder(options, init, dtype);
}

constexpr Family roberta_like(std::string_view type) {
  return {.type = type,
          .prefix = "roberta.",
          .network = roberta_network,
          .names = kRobertaNames,
          .unused = kRobertaUnused,
          .padding = padding_in};
}

}  // namespace

std::span<const Family> bert_families() {
  static constexpr Family kFamilies[] = {
      {.type = "bert", .prefix = "bert.", .network = bert_network, .names = kBertNames, .unused = kBertUnused},
      roberta_like("roberta"),
      // RoBERTas by other names, of other texts.
      roberta_like("xlm-roberta"),
      roberta_like("camembert"),
      {.type = "distilbert",
       .prefix = "distilbert.",
       .network = distilbert_network,
       .names = kDistilbertNames,
       .unused = kDistilbertUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
