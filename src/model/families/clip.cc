// CLIP (Radford et al. 2021) and SigLIP (Zhai et al. 2023): an encoder of images and one of texts, whose results lie in
// one space.

#include "model/families/family.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

constexpr WeightName kTowerNames[] = {
    {.ours = "text.embedding", .theirs = "text_model.embeddings.token_embedding"},
    {.ours = "text.positions", .theirs = "text_model.embeddings.position_embedding"},
    {.ours = "text.blocks.#.ln1", .theirs = "text_model.encoder.layers.#.layer_norm1"},
    {.ours = "text.blocks.#.attn.q", .theirs = "text_model.encoder.layers.#.self_attn.q_proj"},
    {.ours = "text.blocks.#.attn.k", .theirs = "text_model.encoder.layers.#.self_attn.k_proj"},
    {.ours = "text.blocks.#.attn.v", .theirs = "text_model.encoder.layers.#.self_attn.v_proj"},
    {.ours = "text.blocks.#.attn.out", .theirs = "text_model.encoder.layers.#.self_attn.out_proj"},
    {.ours = "text.blocks.#.ln2", .theirs = "text_model.encoder.layers.#.layer_norm2"},
    {.ours = "text.blocks.#.ffn.up", .theirs = "text_model.encoder.layers.#.mlp.fc1"},
    {.ours = "text.blocks.#.ffn.down", .theirs = "text_model.encoder.layers.#.mlp.fc2"},
    {.ours = "text.ln_final", .theirs = "text_model.final_layer_norm"},
    {.ours = "image.patch", .theirs = "vision_model.embeddings.patch_embedding", .change = Change::reshaped},
    {.ours = "image.positions", .theirs = "vision_model.embeddings.position_embedding"},
    {.ours = "image.blocks.#.ln1", .theirs = "vision_model.encoder.layers.#.layer_norm1"},
    {.ours = "image.blocks.#.attn.q", .theirs = "vision_model.encoder.layers.#.self_attn.q_proj"},
    {.ours = "image.blocks.#.attn.k", .theirs = "vision_model.encoder.layers.#.self_attn.k_proj"},
    {.ours = "image.blocks.#.attn.v", .theirs = "vision_model.encoder.layers.#.self_attn.v_proj"},
    {.ours = "image.blocks.#.attn.out", .theirs = "vision_model.encoder.layers.#.self_attn.out_proj"},
    {.ours = "image.blocks.#.ln2", .theirs = "vision_model.encoder.layers.#.layer_norm2"},
    {.ours = "image.blocks.#.ffn.up", .theirs = "vision_model.encoder.layers.#.mlp.fc1"},
    {.ours = "image.blocks.#.ffn.down", .theirs = "vision_model.encoder.layers.#.mlp.fc2"},
    {.ours = "image.ln_final", .theirs = "vision_model.post_layernorm"},
    {.ours = "log_scale", .theirs = "logit_scale", .change = Change::reshaped},
};
constexpr WeightName kClipOwnNames[] = {
    {.ours = "image.class.weight", .theirs = "vision_model.embeddings.class_embedding"},
    {.ours = "image.ln_input", .theirs = "vision_model.pre_layrnorm"},
    {.ours = "image_map", .theirs = "visual_projection"},
    {.ours = "text_map", .theirs = "text_projection"},
};
constexpr WeightName kSiglipOwnNames[] = {
    {.ours = "image_pool.query.weight", .theirs = "vision_model.head.probe", .change = Change::reshaped},
    {.ours = "image_pool.attn.q.weight", .theirs = "vision_model.head.attention.in_proj_weight", .part = 0, .parts = 3},
    {.ours = "image_pool.attn.q.bias", .theirs = "vision_model.head.attention.in_proj_bias", .part = 0, .parts = 3},
    {.ours = "image_pool.attn.k.weight", .theirs = "vision_model.head.attention.in_proj_weight", .part = 1, .parts = 3},
    {.ours = "image_pool.attn.k.bias", .theirs = "vision_model.head.attention.in_proj_bias", .part = 1, .parts = 3},
    {.ours = "image_pool.attn.v.weight", .theirs = "vision_model.head.attention.in_proj_weight", .part = 2, .parts = 3},
    {.ours = "image_pool.attn.v.bias", .theirs = "vision_model.head.attention.in_proj_bias", .part = 2, .parts = 3},
    {.ours = "image_pool.attn.out", .theirs = "vision_model.head.attention.out_proj"},
    {.ours = "image_pool.ln", .theirs = "vision_model.head.layernorm"},
    {.ours = "image_pool.ffn.up", .theirs = "vision_model.head.mlp.fc1"},
    {.ours = "image_pool.ffn.down", .theirs = "vision_model.head.mlp.fc2"},
    {.ours = "text_map", .theirs = "text_model.head"},
    {.ours = "logit_bias", .theirs = "logit_bias"},
};
constexpr std::string_view kTowerUnused[] = {"*position_ids"};

constexpr auto kClipNames = joined_names(kTowerNames, kClipOwnNames);
constexpr auto kSiglipNames = joined_names(kTowerNames, kSiglipOwnNames);

// Old configs of CLIP have a second object, which counts alone, with the usual values of what it does not say.
ConfigFile tower_in(const ConfigFile& config, const std::string& word) {
  const std::string other = word + "_dict";
  if (!config.has(other)) return config.object_or_none(word);
  config.mark_read(word);
  return config.object(other);
}

// What a config does not say is that of the smallest model of the family.
struct Usual {
  std::int64_t text_width;
  std::int64_t text_d_ff;
  std::int64_t text_heads;
  std::int64_t vocabulary;
  std::int64_t length;
  std::int64_t patch_side;
  const char* activation;
  double epsilon;
};

TwoTowerOptions towers_in(const ConfigFile& text, const ConfigFile& image, const Usual& usual) {
  image.require("num_channels", 3);
  const std::int64_t side = image.integer("image_size", 224);
  const std::int64_t patch = image.integer("patch_size", usual.patch_side);
  constexpr std::int64_t kLargestSide = std::int64_t{1} << 15;
  if (side < 1 || side > kLargestSide) image.refuse("image_size", "1 to " + std::to_string(kLargestSide) + " pixels");
  if (patch < 1 || patch > side) image.refuse("patch_size", "1 or more, and no more than image_size");
  return {.image_side = side,
          .patch_side = patch,
          .vocabulary = text.integer("vocab_size", usual.vocabulary),
          .length = text.integer("max_position_embeddings", usual.length),
          .image_layers = image.layers("num_hidden_layers", 12),
          .text_layers = text.layers("num_hidden_layers", 12),
          .d_model = text.integer("hidden_size", usual.text_width),
          .heads = text.integer("num_attention_heads", usual.text_heads),
          .d_ff = text.integer("intermediate_size", usual.text_d_ff),
          .positions = Positions::learned,
          .relative = false,
          .image_d_model = image.integer("hidden_size", 768),
          .image_heads = image.integer("num_attention_heads", 12),
          .image_d_ff = image.integer("intermediate_size", 3072),
          .activation = activation_in(text, "hidden_act", usual.activation),
          .image_activation = activation_in(image, "hidden_act", usual.activation),
          .epsilon = text.number("layer_norm_eps", usual.epsilon),
          .image_epsilon = image.number("layer_norm_eps", usual.epsilon),
          .image_margin = side % patch};
}

Model::Network clip_network(const ConfigFile& config, const Init& init, DType dtype) {
  const ConfigFile text = tower_in(config, "text_config");
  TwoTowerOptions options = towers_in(text, tower_in(config, "vision_config"),
                                      {.text_width = 512,
                                       .text_d_ff = 2048,
                                       .text_heads = 8,
                                       .vocabulary = 49408,
                                       .length = 77,
                                       .patch_side = 32,
                                       .activation = "quick_gelu",
                                       .epsilon = 1e-5});
  options.d_embedding = config.integer("projection_dim", 512);
  options.patch_bias = false;
  options.image_norm = true;
  options.self_attention = SelfAttention::causal;
  options.image_pooling = ImagePooling::class_token;
  // The first configs say 2, which is no end, and mean the highest number.
  const std::int64_t end = text.integer("eos_token_id", 49407);
  options.text_pooling = end == 2 ? TextPooling::highest : TextPooling::end;
  if (end != 2) options.end = end;
  return TwoTower(options, init, dtype);
}

Model::Network siglip_network(const ConfigFile& config, const Init& init, DType dtype) {
  const ConfigFile text = config.object_or_none("text_config");
  const ConfigFile image = config.object_or_none("vision_config");
  image.require("vision_use_head", true);
  TwoTowerOptions options = towers_in(text, image,
                                      {.text_width = 768,
                                       .text_d_ff = 3072,
                                       .text_heads = 12,
                                       .vocabulary = 32000,
                                       .length = 64,
                                       .patch_side = 16,
                                       .activation = "gelu_pytorch_tanh",
                                       .epsilon = 1e-6});
  options.d_embedding = text.integer("projection_size", options.d_model);
  options.image_pooling = ImagePooling::attention;
  options.text_pooling = TextPooling::last;
  options.image_map = false;
  options.text_map_bias = true;
  options.loss = PairLoss::sigmoid;
  return TwoTower(options, init, dtype);
}

}  // namespace

std::span<const Family> clip_families() {
  static constexpr Family kFamilies[] = {
      {.type = "clip", .prefix = "", .network = clip_network, .names = kClipNames, .unused = kTowerUnused},
      {.type = "siglip", .prefix = "", .network = siglip_network, .names = kSiglipNames, .unused = kTowerUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
