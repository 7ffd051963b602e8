#include "qkv/model/two_tower.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/exact_math.h"
#include "model/text_options.h"
#include "nn/tracing.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kTwoTower = "TwoTower";
constexpr double kTemperature = 0.07;    // at the start
constexpr double kLargestScale = 100.0;  // both as in CLIP
constexpr double kSigmoidLogScale = std::numbers::ln10;
constexpr double kSigmoidBias = -10.0;  // both as in SigLIP

std::int64_t image_width(const TwoTowerOptions& options) { return options.image_d_model.value_or(options.d_model); }

PatchEncoderOptions image_of(const TwoTowerOptions& options) {
  return {.image_side = options.image_side,
          .patch_side = options.patch_side,
          .layers = options.image_layers,
          .d_model = image_width(options),
          .heads = options.image_heads.value_or(options.heads),
          .d_ff = options.image_d_ff ? options.image_d_ff : options.d_ff,
          .relative = options.relative,
          .margin = options.image_margin,
          .patch_bias = options.patch_bias,
          .class_token = options.image_pooling == ImagePooling::class_token,
          .input_norm = options.image_norm,
          .activation = options.image_activation,
          .epsilon = options.image_epsilon};
}

// Tied: without an output map of its own, which nothing would use.
EncoderOptions text_of(const TwoTowerOptions& options) {
  EncoderOptions text{.vocabulary = options.vocabulary,
                      .length = options.length,
                      .layers = options.text_layers,
                      .d_model = options.d_model,
                      .heads = options.heads,
                      .d_ff = options.d_ff,
                      .positions = options.positions,
                      .tied = true,
                      .activation = options.activation,
                      .self_attention = options.self_attention};
  text.choices.epsilon = options.epsilon;
  return text;
}

std::optional<AttentionPool> pool_of(const TwoTowerOptions& options, const Init& init, DType dtype) {
  if (options.image_pooling != ImagePooling::attention) return std::nullopt;
  const PatchEncoderOptions image = image_of(options);
  return AttentionPool({.d_model = image.d_model,
                        .heads = image.heads,
                        .d_ff = image.d_ff,
                        .activation = image.activation,
                        .epsilon = image.epsilon,
                        .dtype = dtype},
                       init);
}

TwoTowerOptions checked(const TwoTowerOptions& options) {
  const auto require = [](std::string_view argument, std::int64_t value) {
    if (value < 1) throw InvalidArgument(kTwoTower, argument, "more than 0", std::to_string(value));
  };
  require("image_layers", options.image_layers);
  require("text_layers", options.text_layers);
  require("d_embedding", options.d_embedding.value_or(1));
  require_sound(kTwoTower, text_options(options, options.text_layers));
  const auto& [width, image] = std::pair(options.d_embedding.value_or(options.d_model), image_width(options));
  if (!options.image_map && width != image) {
    throw InvalidArgument(kTwoTower, "d_embedding", std::to_string(image) + ", the width of images without a map",
                          std::to_string(width));
  }
  if ((options.text_pooling == TextPooling::end) != options.end.has_value()) {
    throw InvalidArgument(kTwoTower, "end", "a token for TextPooling::end, none for the others",
                          options.end ? std::to_string(*options.end) : "none");
  }
  return options;
}

std::int64_t embedding_width(const TwoTowerOptions& options) { return options.d_embedding.value_or(options.d_model); }

std::optional<Linear> image_map_of(const TwoTowerOptions& options, const Init& init, DType dtype) {
  if (!options.image_map) return std::nullopt;
  return Linear({.in = image_width(options), .out = embedding_width(options), .bias = false, .dtype = dtype}, init);
}

Linear text_map_of(const TwoTowerOptions& options, const Init& init, DType dtype) {
  return {{.in = options.d_model, .out = embedding_width(options), .bias = options.text_map_bias, .dtype = dtype},
          init};
}

Variable number_parameter(double value, DType dtype) {
  return Variable::parameter(Tensor(std::vector<double>{value}, {1}).to(dtype));
}

double first_scale(const TwoTowerOptions& options) {
  return options.loss == PairLoss::softmax ? -core::log(kTemperature) : kSigmoidLogScale;
}

// Rows of length 1.
Variable normalised(const Variable& x) { return x / sqrt(sum(x * x, {-1}, ReducedAxes::keep)); }

// The place of the token that stands for text b.
std::int64_t place_of(const TwoTowerOptions& options, const TensorView& ids, std::int64_t b) {
  std::vector<double> row(static_cast<std::size_t>(ids.dim(1)));
  ids.load_row(std::array{b}, row);
  if (options.text_pooling == TextPooling::last) return ids.dim(1) - 1;
  if (options.text_pooling == TextPooling::highest) return std::ranges::max_element(row) - row.begin();
  // Without an end the first token, which has seen no other: what CLIP's authors compute.
  const auto place = std::ranges::find(row, static_cast<double>(*options.end));
  return place == row.end() ? 0 : place - row.begin();
}

// What each token counts, [B, T, 1]: of the mean 1 / length, and 0 for padding; else 1 for the one that stands for all.
Tensor shares(const TwoTowerOptions& options, const PaddedTokens& texts, DType dtype) {
  const std::int64_t T = texts.ids.dim(1);
  Tensor weights(DType::f64, {texts.ids.dim(0), T, 1});
  for (std::int64_t b = 0; b < texts.ids.dim(0); ++b) {
    const std::int64_t length = texts.lengths.empty() ? T : texts.lengths[static_cast<std::size_t>(b)];
    if (length == 0) throw InvalidArgument(kTwoTower, "lengths", "a token in each text", "0");
    if (options.text_pooling != TextPooling::mean) {
      weights.set({b, place_of(options, texts.ids, b), 0}, 1);
    } else {
      std::fill_n(weights.values<double>().begin() + b * T, length, 1.0 / static_cast<double>(length));
    }
  }
  return weights.to(dtype);
}

}  // namespace

std::string_view name_of(ImagePooling pooling) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"mean", "class_token", "attention"};
  return kNames[static_cast<std::size_t>(pooling)];
}

std::string_view name_of(TextPooling pooling) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"mean", "last", "end", "highest"};
  return kNames[static_cast<std::size_t>(pooling)];
}

TwoTower::TwoTower(const TwoTowerOptions& options, const Init& init, DType dtype)
    : options_(checked(options)),
      image_(image_of(options), init, dtype),
      text_(text_of(options), init, dtype),
      image_pool_(pool_of(options, init, dtype)),
      image_map_(image_map_of(options, init, dtype)),
      text_map_(text_map_of(options, init, dtype)),
      log_scale_(number_parameter(first_scale(options), dtype)),
      logit_bias_(options.loss == PairLoss::sigmoid ? number_parameter(kSigmoidBias, dtype) : Variable()) {}

DType TwoTower::wide() const { return ModelCall().dtype_for(log_scale_.dtype()); }

Variable TwoTower::pooled_image(const Variable& patches) const {
  if (image_pool_) return nn::named("image_pool", [&] { return image_pool_->forward(patches); });
  if (options_.image_pooling == ImagePooling::mean) return mean(cast(patches, wide()), {1});
  return reshape(slice(patches, 1, 0, 1), {patches.dim(0), patches.dim(2)});
}

Variable TwoTower::embed_images(const TensorView& images, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable patches = nn::named("image", [&] { return image_.forward(images, part_of(call, 0)); });
  Variable pooled = cast(pooled_image(patches), wide());
  if (image_map_) pooled = nn::named("image_map", [&] { return image_map_->forward(pooled); });
  return tracing.result(normalised(pooled));
}

Variable TwoTower::embed_texts(const PaddedTokens& texts, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  const Variable tokens = nn::named("text", [&] { return text_.hidden(texts, part_of(call, 1)); });
  const Variable pooled = sum(cast(tokens, wide()) * Variable(shares(options_, texts, wide())), {1});
  return tracing.result(normalised(nn::named("text_map", [&] { return text_map_.forward(pooled); })));
}

Variable TwoTower::loss(const TensorView& images, const PaddedTokens& texts, const ModelCall& call) const {
  const nn::Tracing tracing(call.trace);
  ModelCall inner = call;
  inner.trace = nullptr;
  const Variable embedded = embed_images(images, inner);
  return tracing.result(loss_of_embeddings(embedded, embed_texts(texts, inner)));
}

Variable TwoTower::scores(const Variable& images, const Variable& texts) const {
  const DType dtype = images.dtype();
  return pair_scores(images, texts, cast(log_scale_, dtype),
                     logit_bias_.empty() ? Variable() : cast(logit_bias_, dtype));
}

Variable TwoTower::loss_of_embeddings(const Variable& images, const Variable& texts) const {
  const double most = core::log(kLargestScale);
  const bool is_clipped = options_.loss == PairLoss::softmax && log_scale_.item() > most;
  if (is_clipped) log_scale_.mutable_value().set({0}, most);
  return pair_loss(options_.loss, nn::traced("logits", scores(images, texts)));
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
  if (image_pool_) append(all, "image_pool", image_pool_->parameters());
  if (image_map_) append(all, "image_map", image_map_->parameters());
  append(all, "text_map", text_map_.parameters());
  all.push_back({"log_scale", log_scale_});
  if (!logit_bias_.empty()) all.push_back({"logit_bias", logit_bias_});
  return all;
}

std::int64_t parameter_count(const TwoTowerOptions& options) {
  const TwoTowerOptions sound = checked(options);
  const std::int64_t width = embedding_width(sound);
  std::int64_t count = parameter_count(image_of(sound)) + parameter_count(text_of(sound)) + sound.d_model * width + 1;
  if (const auto pool = pool_of(sound, Init::undrawn(), DType::f32)) count += parameter_count(pool->parameters());
  if (sound.image_map) count += image_width(sound) * width;
  if (sound.text_map_bias) count += width;
  return sound.loss == PairLoss::sigmoid ? count + 1 : count;
}

}  // namespace qkv
