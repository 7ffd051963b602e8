// Images in, a vector for each patch out, and scores of classes: ViT (Dosovitskiy et al. 2021), DINOv2 (Oquab et al.
// 2024).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/patch_encoder.h"

namespace qkv {

/// What of the last states the scores of classes are made of.
enum class ClassesRead : std::uint8_t {
  class_token,  // its state alone: ViT
  with_mean,    // beside it the mean of the patches: DINOv2
  two_tokens,   // the mean of what two maps make of it and of the token of distillation: DeiT with a teacher
};
/// "class_token", "with_mean", "two_tokens"
[[nodiscard]] std::string_view name_of(ClassesRead read) noexcept;

struct ImageEncoderOptions {
  PatchEncoderOptions patches = {.relative = false, .class_token = true};  // always with a class token
  std::int64_t classes = 0;                                                // that it tells apart; 0: states alone
  ClassesRead classes_read = ClassesRead::class_token;
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const ImageEncoderOptions& options);
[[nodiscard]] ImageEncoderOptions image_encoder_options(const std::map<std::string, std::string>& config);

/// Parameters of such a model, by arithmetic.
[[nodiscard]] std::int64_t parameter_count(const ImageEncoderOptions& options);

/// A PatchEncoder with a class token, and a linear map from its state to scores of classes where there are some.
class ImageEncoder {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option.
  ImageEncoder(const ImageEncoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// images as those of PatchEncoder::forward() -> [B, tokens, d_model] in call.dtype, the class token first.
  [[nodiscard]] Variable states(const TensorView& images, const ModelCall& call = {}) const;
  /// [B, classes] in call.dtype. Throws InvalidArgument naming classes if there are none.
  [[nodiscard]] Variable class_scores(const TensorView& images, const ModelCall& call = {}) const;

  /// The scores [B, classes] that a residual stream, the output of a block, would give as that of the last one.
  /// Likewise.
  [[nodiscard]] Variable read_out(const Variable& stream, const ModelCall& call = {}) const;

  /// Weights of every head, [B, heads, 1 + patches, 1 + patches] a layer. Allocates them all.
  [[nodiscard]] std::vector<Tensor> weights(const TensorView& images) const { return encoder_.weights(images); }

  /// Those of PatchEncoder by their names, then classes.weight and classes.bias, and likewise distilled_classes where
  /// two tokens are read. A trace sees the scores as `classes`.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const ImageEncoderOptions& options() const noexcept { return options_; }
  [[nodiscard]] const PatchEncoder& encoder() const noexcept { return encoder_; }

 private:
  [[nodiscard]] Variable scores_of_states(const Variable& all) const;

  ImageEncoderOptions options_;
  PatchEncoder encoder_;
  std::optional<Linear> classes_;
  std::optional<Linear> distilled_classes_;
};

}  // namespace qkv
