// ELECTRA (Clark et al. 2020), ALBERT (Lan et al. 2020), MPNet (Song et al. 2020) and NomicBERT (Nussbaum et al. 2024):
// BERTs with narrower tables, one layer for all, buckets of distances, or rotary positions and gates.
#include "model/families/bert_names.h"
#include "model/families/bert_options.h"
#include "model/families/family.h"
#include "model/families/joined_names.h"
#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kElectraRest[] = {
    {.ours = "embedding_map", .theirs = "embeddings_project"},
    {.ours = "head.dense", .theirs = "generator_predictions.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "generator_predictions.LayerNorm", .in_head = true},
    {.ours = "head", .theirs = "generator_lm_head", .in_head = true},
    {.ours = "output", .theirs = "generator_lm_head", .in_head = true},
};
constexpr auto kElectraNames = joined_names(kBertBody, kElectraRest);
constexpr std::string_view kElectraUnused[] = {"*position_ids", "*token_type_ids", "generator_lm_head.weight"};

constexpr WeightName kAlbertNames[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "positions", .theirs = "embeddings.position_embeddings"},
    {.ours = "types", .theirs = "embeddings.token_type_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm"},
    {.ours = "embedding_map", .theirs = "encoder.embedding_hidden_mapping_in"},
    {.ours = "blocks.#.attn.q", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.attention.query"},
    {.ours = "blocks.#.attn.k", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.attention.key"},
    {.ours = "blocks.#.attn.v", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.attention.value"},
    {.ours = "blocks.#.attn.out", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.attention.dense"},
    {.ours = "blocks.#.ln1", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.ffn"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.ffn_output"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm"},
    {.ours = "head.dense", .theirs = "predictions.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "predictions.LayerNorm", .in_head = true},
    {.ours = "head", .theirs = "predictions.decoder", .otherwise = "predictions", .in_head = true},
    {.ours = "output", .theirs = "predictions.decoder", .in_head = true},
};
constexpr std::string_view kAlbertUnused[] = {"*pooler.*",         "*position_ids",    "*token_type_ids",
                                              "predictions.*bias", "sop_classifier.*", "predictions.decoder.weight"};

constexpr WeightName kMpnetNames[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "positions", .theirs = "embeddings.position_embeddings", .behind_padding = true},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm"},
    {.ours = "t5", .theirs = "encoder.relative_attention_bias"},
    {.ours = "blocks.#.attn.q", .theirs = "encoder.layer.#.attention.attn.q"},
    {.ours = "blocks.#.attn.k", .theirs = "encoder.layer.#.attention.attn.k"},
    {.ours = "blocks.#.attn.v", .theirs = "encoder.layer.#.attention.attn.v"},
    {.ours = "blocks.#.attn.out", .theirs = "encoder.layer.#.attention.attn.o"},
    {.ours = "blocks.#.ln1", .theirs = "encoder.layer.#.attention.LayerNorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.intermediate.dense"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.output.dense"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.layer.#.output.LayerNorm"},
    {.ours = "head.dense", .theirs = "lm_head.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "lm_head.layer_norm", .in_head = true},
    {.ours = "head", .theirs = "lm_head.decoder", .otherwise = "lm_head", .in_head = true},
    {.ours = "output", .theirs = "lm_head.decoder", .in_head = true},
};
constexpr std::string_view kMpnetUnused[] = {"*pooler.*", "*position_ids", "lm_head.bias", "lm_head.decoder.weight"};

// As `transformers` calls them, and as its authors do, with q, k and v in one.
constexpr WeightName kNomicNames[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "types", .theirs = "embeddings.token_type_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm", .otherwise = "emb_ln"},
    {.ours = "blocks.#.attn.q", .theirs = "layers.#.self_attn.q_proj"},
    {.ours = "blocks.#.attn.k", .theirs = "layers.#.self_attn.k_proj"},
    {.ours = "blocks.#.attn.v", .theirs = "layers.#.self_attn.v_proj"},
    {.ours = "blocks.#.attn.q", .theirs = "encoder.layers.#.attn.Wqkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "encoder.layers.#.attn.Wqkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "encoder.layers.#.attn.Wqkv", .part = 2, .parts = 3},
    {.ours = "blocks.#.attn.out", .theirs = "layers.#.self_attn.o_proj", .otherwise = "encoder.layers.#.attn.out_proj"},
    {.ours = "blocks.#.ln1", .theirs = "layers.#.post_attention_layernorm", .otherwise = "encoder.layers.#.norm1"},
    {.ours = "blocks.#.ffn.gate", .theirs = "layers.#.mlp.gate_proj", .otherwise = "encoder.layers.#.mlp.fc12"},
    {.ours = "blocks.#.ffn.up", .theirs = "layers.#.mlp.up_proj", .otherwise = "encoder.layers.#.mlp.fc11"},
    {.ours = "blocks.#.ffn.down", .theirs = "layers.#.mlp.down_proj", .otherwise = "encoder.layers.#.mlp.fc2"},
    {.ours = "blocks.#.ln2", .theirs = "layers.#.post_mlp_layernorm", .otherwise = "encoder.layers.#.norm2"},
    {.ours = "head.dense", .theirs = "cls.predictions.transform.dense", .in_head = true},
    {.ours = "head.ln", .theirs = "cls.predictions.transform.layer_norm", .in_head = true},
    {.ours = "head", .theirs = "cls.predictions.decoder", .otherwise = "cls.predictions", .in_head = true},
    {.ours = "output", .theirs = "cls.predictions.decoder", .in_head = true},
};
constexpr std::string_view kNomicUnused[] = {"*pooler.*", "*inv_freq", "cls.predictions.*bias",
                                             "cls.predictions.decoder.weight", "cls.seq_relationship.*"};

Model::Network electra_network(const ConfigFile& config, const Init& init, DType dtype) {
  EncoderOptions options = bert_options(config);
  options.types = config.integer("type_vocab_size", 2);
  const std::int64_t width = config.integer("embedding_size", 128);
  if (width != options.d_model) options.d_embedding = width;
  options.head_activation = Activation::gelu;
  return Encoder(options, init, dtype);
}

Model::Network albert_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("num_hidden_groups", 1);
  config.require("inner_group_num", 1);
  EncoderOptions options = bert_options(config);
  options.activation = activation_in(config, "hidden_act", "gelu_new");
  options.types = config.integer("type_vocab_size", 2);
  options.d_embedding = config.integer("embedding_size", 128);
  options.choices.one_block = true;
  return Encoder(options, init, dtype);
}

// Whatever the config says is the padding: so its program has it. The number of buckets makes the table, the program
// uses 32 rows of it.
constexpr std::int64_t kMpnetPadding = 1;
std::int64_t mpnet_padding(const ConfigFile& /*config*/) { return kMpnetPadding; }

Model::Network mpnet_network(const ConfigFile& config, const Init& init, DType dtype) {
  config.require("relative_attention_num_buckets", 32);
  EncoderOptions options = bert_options(config);
  count_from_padding(config, kMpnetPadding, options);
  options.head_activation = Activation::gelu;
  options.choices.t5_beside = true;
  return Encoder(options, init, dtype);
}

// What a NomicBERT's config calls sizes: as `transformers` does, or as the program of its authors does.
struct NomicWords {
  std::string_view d_model = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view d_ff = "intermediate_size";
  std::string_view length = "max_position_embeddings";
  std::string_view epsilon = "layer_norm_eps";
  std::string_view base = "rope_theta";
};
constexpr NomicWords kAuthorsWords{.d_model = "n_embd",
                                   .layers = "n_layer",
                                   .heads = "n_head",
                                   .d_ff = "n_inner",
                                   .length = "n_positions",
                                   .epsilon = "layer_norm_epsilon",
                                   .base = "rotary_emb_base"};

// What the authors' program can compute beside that. Its frequencies change beyond max_trained_positions alone.
void require_usual_nomic(const ConfigFile& config) {
  for (const char* word : {"prenorm", "parallel_block", "use_rms_norm", "causal", "qkv_proj_bias", "mlp_fc1_bias",
                           "mlp_fc2_bias", "rotary_emb_interleaved"}) {
    config.require(word, false);
  }
  config.require("activation_function", "swiglu");
  config.require("rotary_emb_scale_base", nullptr);
  config.require("moe_every_n_layers", 0);
  if (config.number("rotary_emb_fraction", 0) != 1) config.refuse("rotary_emb_fraction", "1: whole heads turn");
  if (!config.has("rotary_scaling_factor")) return;
  static_cast<void>(config.number("rotary_scaling_factor"));
  config.remark("rotary_scaling_factor",
                "texts of more than " + std::to_string(config.integer("max_trained_positions", 2048)) +
                    " tokens (max_trained_positions) turn as shorter ones do, not more slowly");
}

Model::Network nomic_network(const ConfigFile& config, const Init& init, DType dtype) {
  const bool is_authors = config.has(kAuthorsWords.d_model);
  const NomicWords words = is_authors ? kAuthorsWords : NomicWords{};
  if (is_authors) require_usual_nomic(config);
  EncoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer(words.length),
                         .layers = config.layers(words.layers),
                         .d_model = config.integer(words.d_model),
                         .heads = config.integer(words.heads),
                         .d_ff = config.integer(words.d_ff),
                         .positions = Positions::rotary,
                         .tied = config.flag("tie_word_embeddings", true),
                         .order = NormOrder::post,
                         .embedding = EmbeddingScale::normed,
                         .activation = is_authors ? Activation::silu : activation_in(config, "hidden_act", "silu"),
                         .bias = false,
                         .types = config.integer("type_vocab_size", 2),
                         .head = head_in(config)};
  options.choices = {.epsilon = config.number(words.epsilon, 1e-12),
                     .feed_forward = FeedForwardKind::gated,
                     .feed_forward_bias = false};
  const std::int64_t usual = options.heads > 0 ? options.d_model / options.heads : 0;
  const std::int64_t width = config.integer("head_dim", usual);
  if (width != usual) options.choices.d_k = width;
  read_rotary(config, options.length, options.choices, {.word = words.base, .otherwise = 1000});
  return Encoder(options, init, dtype);
}

}  // namespace

std::span<const Family> relatives_of_bert() {
  static constexpr Family kFamilies[] = {
      {.type = "electra",
       .prefix = "electra.",
       .network = electra_network,
       .names = kElectraNames,
       .unused = kElectraUnused},
      {.type = "albert",
       .prefix = "albert.",
       .network = albert_network,
       .names = kAlbertNames,
       .unused = kAlbertUnused},
      {.type = "mpnet",
       .prefix = "mpnet.",
       .network = mpnet_network,
       .names = kMpnetNames,
       .unused = kMpnetUnused,
       .padding = mpnet_padding},
      {.type = "nomic_bert",
       .prefix = "nomic_bert.",
       .network = nomic_network,
       .names = kNomicNames,
       .unused = kNomicUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
