#include "qkv/model/two_tower.h"

#include <algorithm>
#include <string>

#include "core/exact_math.h"
#include "model/text_options.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"

namespace qkv {
namespace {

constexpr const char* kTwoTower = "TwoTower";
constexpr double kTemperature = 0.07;    // at the start
constexpr double kLargestScale = 100.0;  // both as in CLIP

PatchEncoderOptions image_of(const TwoTowerOptions& options) {
  return {.image_side = options.image_side,
          .patch_side = options.patch_side,
          .layers = options.image_layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .relative = options.relative};
}

// Tied: without an output map of its own, which nothing would use.
EncoderOptions text_of(const TwoTowerOptions& options) {
  return {.vocabulary = options.vocabulary,
          .length = options.length,
          .layers = options.text_layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions,
          .tied = true};
}

TwoTowerOptions checked(const TwoTowerOptions& options) {
  const auto require = [](std::string_view argument, std::int64_t value) {
    if (value < 1) throw InvalidArgument(kTwoTower, argument, "more than 0", std::to_string(value));
  };
  require("image_layers", options.image_layers);
  require("text_layers", options.text_layers);
  require("d_embedding", options.d_embedding.value_or(1));
  require_sound(kTwoTower, text_options(options, options.text_layers));
  return options;
}

std::int64_t embedding_width(const TwoTowerOptions& options) { return options.d_embedding.value_or(options.d_model); }

Linear map_of(const TwoTowerOptions& options, const Init& init, DType dtype) {
  return {{.in = options.d_model, .out = embedding_width(options), .bias = false, .dtype = dtype}, init};
}

// Rows of length 1.
Variable normalised(const Variable& x) { return x / sqrt(sum(x * x, {-1}, ReducedAxes::keep)); }

// 1 / length for each token of a text, 0 for its padding: [B, T, 1].
Tensor shares(const PaddedTokens& texts, DType dtype) {
  const std::int64_t T = texts.ids.dim(1);
  Tensor weights(DType::f64, {texts.ids.dim(0), T, 1});
  for (std::int64_t b = 0; b < texts.ids.dim(0); ++b) {
    const std::int64_t length = texts.lengths.empty() ? T : texts.lengths[static_cast<std::size_t>(b)];
    if (length == 0) throw InvalidArgument(kTwoTower, "lengths", "a token in each text", "0");
    std::fill_n(weights.values<double>().begin() + b * T, length, 1.0 / static_cast<double>(length));
  }
  return weights.to(dtype);
}

}  // namespace

TwoTower::TwoTower(const TwoTowerOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      image_(image_of(options), init, dtype),
      text_(text_of(options), init, dtype),
      image_map_(map_of(options, init, dtype)),
      text_map_(map_of(options, init, dtype)),
      log_scale_(Variable::parameter(Tensor(std::vector<double>{-core::log(kTemperature)}, {1}).to(dtype))) {}

Variable TwoTower::embed_images(const TensorView& images, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable patches = nn::named("image", [&] { return image_.forward(images, part_of(call, 0)); });
  const Variable pooled = mean(cast(patches, log_scale_.dtype()), {1});
  return tracing.result(normalised(nn::named("image_map", [&] { return image_map_.forward(pooled); })));
}

Variable TwoTower::embed_texts(const PaddedTokens& texts, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable tokens = nn::named("text", [&] { return text_.hidden(texts, part_of(call, 1)); });
  const Variable pooled = sum(cast(tokens, log_scale_.dtype()) * Variable(shares(texts, log_scale_.dtype())), {1});
  return tracing.result(normalised(nn::named("text_map", [&] { return text_map_.forward(pooled); })));
}

Variable TwoTower::loss(const TensorView& images, const PaddedTokens& texts, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  const Variable embedded = embed_images(images, inner);
  return tracing.result(loss_of_embeddings(embedded, embed_texts(texts, inner)));
}

Variable TwoTower::loss_of_embeddings(const Variable& images, const Variable& texts) const {
  const double most = core::log(kLargestScale);
  if (log_scale_.item() > most) log_scale_.mutable_value().set({0}, most);
  return contrastive_loss(images, texts, log_scale_);
}

TwoTowerWeights TwoTower::weights(const TensorView& images, const PaddedTokens& texts) const {
  const NoGradient constant;
  Trace trace({"*.attn.weights"});
  static_cast<void>(loss(images, texts, {.trace = &trace}));
  return {.patches = weights_of(trace, "image.", "attn", options_.image_layers),
          .tokens = weights_of(trace, "text.", "attn", options_.text_layers)};
}

Parameters TwoTower::parameters() const {
  Parameters all;
  append(all, "image", image_.parameters());
  append(all, "text", text_.parameters());
  append(all, "image_map", image_map_.parameters());
  append(all, "text_map", text_map_.parameters());
  all.push_back({"log_scale", log_scale_});
  return all;
}

std::int64_t parameter_count(const TwoTowerOptions& options) {
  const TwoTowerOptions sound = checked(options);
  return parameter_count(image_of(sound)) + parameter_count(text_of(sound)) +
         2 * sound.d_model * embedding_width(sound) + 1;
}

}  // namespace qkv
