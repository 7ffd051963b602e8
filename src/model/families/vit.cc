// ViT (Dosovitskiy et al. 2021), DeiT (Touvron et al. 2021) and DINOv2 (Oquab et al. 2024), with registers or without:
// an encoder of images alone, with a head of classes or without one.

#include "model/families/family.h"
#include "model/families/joined_names.h"

namespace qkv::families {
namespace {

// Of all; `otherwise` is what `transformers` 5 calls them inside.
constexpr WeightName kInputNames[] = {
    {.ours = "class.weight", .theirs = "embeddings.cls_token", .change = Change::reshaped},
    {.ours = "distilled.weight", .theirs = "embeddings.distillation_token", .change = Change::reshaped},
    {.ours = "registers.weight", .theirs = "embeddings.register_tokens", .change = Change::reshaped},
    {.ours = "positions.weight", .theirs = "embeddings.position_embeddings", .change = Change::reshaped},
    {.ours = "patch", .theirs = "embeddings.patch_embeddings.projection", .change = Change::reshaped},
    {.ours = "ln_final", .theirs = "layernorm"},
    {.ours = "classes", .theirs = "classifier", .in_head = true},
    {.ours = "classes", .theirs = "cls_classifier", .in_head = true},
    {.ours = "distilled_classes", .theirs = "distillation_classifier", .in_head = true},
};
constexpr WeightName kVitOwnNames[] = {
    {.ours = "blocks.#.ln1", .theirs = "encoder.layer.#.layernorm_before", .otherwise = "layers.#.layernorm_before"},
    {.ours = "blocks.#.attn.q",
     .theirs = "encoder.layer.#.attention.attention.query",
     .otherwise = "layers.#.attention.q_proj"},
    {.ours = "blocks.#.attn.k",
     .theirs = "encoder.layer.#.attention.attention.key",
     .otherwise = "layers.#.attention.k_proj"},
    {.ours = "blocks.#.attn.v",
     .theirs = "encoder.layer.#.attention.attention.value",
     .otherwise = "layers.#.attention.v_proj"},
    {.ours = "blocks.#.attn.out",
     .theirs = "encoder.layer.#.attention.output.dense",
     .otherwise = "layers.#.attention.o_proj"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.layer.#.layernorm_after", .otherwise = "layers.#.layernorm_after"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.intermediate.dense", .otherwise = "layers.#.mlp.fc1"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.output.dense", .otherwise = "layers.#.mlp.fc2"},
};
constexpr WeightName kDinov2OwnNames[] = {
    {.ours = "blocks.#.ln1", .theirs = "encoder.layer.#.norm1"},
    {.ours = "blocks.#.attn.q",
     .theirs = "encoder.layer.#.attention.attention.query",
     .otherwise = "encoder.layer.#.attention.q_proj"},
    {.ours = "blocks.#.attn.k",
     .theirs = "encoder.layer.#.attention.attention.key",
     .otherwise = "encoder.layer.#.attention.k_proj"},
    {.ours = "blocks.#.attn.v",
     .theirs = "encoder.layer.#.attention.attention.value",
     .otherwise = "encoder.layer.#.attention.v_proj"},
    {.ours = "blocks.#.attn.out",
     .theirs = "encoder.layer.#.attention.output.dense",
     .otherwise = "encoder.layer.#.attention.o_proj"},
    {.ours = "blocks.#.attn_scale.weight", .theirs = "encoder.layer.#.layer_scale1.lambda1"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.layer.#.norm2"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.mlp.fc1"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.mlp.fc2"},
    {.ours = "blocks.#.ffn.gate", .theirs = "encoder.layer.#.mlp.weights_in", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.mlp.weights_in", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.mlp.weights_out"},
    {.ours = "blocks.#.ffn.gate", .theirs = "encoder.layer.#.mlp.gate_proj"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.mlp.up_proj"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.mlp.down_proj"},
    {.ours = "blocks.#.ffn_scale.weight", .theirs = "encoder.layer.#.layer_scale2.lambda1"},
};
// What a pooler makes of the class token, and what stands for patches that are hidden in training.
constexpr std::string_view kUnused[] = {"*pooler.*", "*mask_token"};

constexpr auto kVitNames = joined_names(kInputNames, kVitOwnNames);
constexpr auto kDinov2Names = joined_names(kInputNames, kDinov2OwnNames);

constexpr const char* kLabels = "id2label";

std::int64_t class_count(const ConfigFile& config) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (config.has_object(kLabels)) return static_cast<std::int64_t>(config.object(kLabels).words().size());
  const std::int64_t count = config.integer("num_labels", 2);
  if (count < 1 || count > kMost) config.refuse("num_labels", "1 to " + std::to_string(kMost));
  return count;
}

ImageEncoderOptions encoder_in(const ConfigFile& config, std::int64_t patch_side, double epsilon) {
  config.require("num_channels", 3);
  constexpr std::int64_t kLargestSide = std::int64_t{1} << 15;
  const std::int64_t side = config.integer("image_size", 224);
  const std::int64_t patch = config.integer("patch_size", patch_side);
  if (side < 1 || side > kLargestSide) config.refuse("image_size", "1 to " + std::to_string(kLargestSide) + " pixels");
  if (patch < 1 || patch > side) config.refuse("patch_size", "1 or more, and no more than image_size");
  ImageEncoderOptions options;
  options.patches.image_side = side;
  options.patches.patch_side = patch;
  options.patches.margin = side % patch;
  options.patches.layers = config.layers("num_hidden_layers", 12);
  options.patches.d_model = config.integer("hidden_size", 768);
  options.patches.heads = config.integer("num_attention_heads", 12);
  options.patches.qkv_bias = config.flag("qkv_bias", true);
  options.patches.epsilon = config.number("layer_norm_eps", epsilon);
  if (is_any_architecture(config, {"ForImageClassification", "ForImageClassificationWithTeacher"})) {
    options.classes = class_count(config);
    config.mark_read(kLabels);  // its words are names
  }
  return options;
}

ImageEncoderOptions vit_options(const ConfigFile& config, const char* architectures) {
  if (is_any_architecture(config, {"ForMaskedImageModeling"})) config.refuse("architectures", architectures);
  ImageEncoderOptions options = encoder_in(config, 16, 1e-12);
  options.patches.d_ff = config.integer("intermediate_size", 3072);
  options.patches.activation = activation_in(config, "hidden_act", "gelu");
  return options;
}

Model::Network vit_network(const ConfigFile& config, const Init& init, DType dtype) {
  return ImageEncoder(vit_options(config, "a ViTModel or a ViTForImageClassification"), init, dtype);
}

Model::Network deit_network(const ConfigFile& config, const Init& init, DType dtype) {
  ImageEncoderOptions options = vit_options(config, "a DeiTModel, a DeiTForImageClassification or one WithTeacher");
  options.patches.distilled = true;
  if (is_any_architecture(config, {"WithTeacher"})) options.classes_read = ClassesRead::two_tokens;
  return ImageEncoder(options, init, dtype);
}

ImageEncoderOptions dinov2_options(const ConfigFile& config, std::int64_t patch_side) {
  if (is_any_architecture(config, {"Backbone"})) {
    config.refuse("architectures", "a Dinov2Model or a Dinov2ForImageClassification");
  }
  ImageEncoderOptions options = encoder_in(config, patch_side, 1e-6);
  const double ratio = config.number("mlp_ratio", 4);
  if (!(ratio > 0 && ratio <= 1024)) config.refuse("mlp_ratio", "more than 0, at most 1024");
  auto d_ff = static_cast<std::int64_t>(static_cast<double>(options.patches.d_model) * ratio);
  options.patches.layer_scale = true;
  options.patches.resized_positions = true;
  options.classes_read = ClassesRead::with_mean;
  if (config.flag("use_swiglu_ffn", false)) {
    d_ff = (static_cast<std::int64_t>(static_cast<double>(d_ff) * 2 / 3) + 7) / 8 * 8;
    options.patches.feed_forward = FeedForwardKind::gated;
    options.patches.activation = Activation::silu;
    config.mark_read("hidden_act");
  } else {
    options.patches.activation = activation_in(config, "hidden_act", "gelu");
  }
  options.patches.d_ff = d_ff;
  return options;
}

Model::Network dinov2_network(const ConfigFile& config, const Init& init, DType dtype) {
  return ImageEncoder(dinov2_options(config, 14), init, dtype);
}

Model::Network registers_network(const ConfigFile& config, const Init& init, DType dtype) {
  constexpr std::int64_t kMost = 1024;
  ImageEncoderOptions options = dinov2_options(config, 16);
  options.patches.registers = config.integer("num_register_tokens", 4);
  if (options.patches.registers < 1 || options.patches.registers > kMost) {
    config.refuse("num_register_tokens", "1 to " + std::to_string(kMost));
  }
  return ImageEncoder(options, init, dtype);
}

}  // namespace

std::vector<std::string> classes_in(const ConfigFile& config) {
  const bool has_names = config.has_object(kLabels);
  const ConfigFile names = config.object_or_none(kLabels);
  std::vector<std::string> classes;
  for (std::int64_t n = 0; n < class_count(config); ++n) {
    const std::string number = std::to_string(n);
    classes.push_back(has_names ? names.text(number) : "LABEL_" + number);
  }
  return classes;
}

std::span<const Family> vit_families() {
  static constexpr Family kFamilies[] = {
      {.type = "vit", .prefix = "vit.", .network = vit_network, .names = kVitNames, .unused = kUnused},
      {.type = "deit", .prefix = "deit.", .network = deit_network, .names = kVitNames, .unused = kUnused},
      {.type = "dinov2_with_registers",
       .prefix = "dinov2_with_registers.",
       .network = registers_network,
       .names = kDinov2Names,
       .unused = kUnused},
      {.type = "dinov2", .prefix = "dinov2.", .network = dinov2_network, .names = kDinov2Names, .unused = kUnused},
  };
  return kFamilies;
}

}  // namespace qkv::families
