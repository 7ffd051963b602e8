// Images as sequences: square patches, each mapped to a vector, and an encoder over them (Dosovitskiy et al. 2021).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/model/image_preparation.h"
#include "qkv/model/token_input.h"
#include "qkv/nn/activation.h"
#include "qkv/nn/feed_forward.h"

namespace qkv {

/// images [B, C, H, W], any dtype and strides -> [B, patches, C * patch_side^2] of that dtype: patches row by row, of
/// each its channels, and of each channel its rows, as the weight of a convolution lies. Allocates the result. Throws
/// InvalidArgument naming images, where patch_side does not divide H and W.
[[nodiscard]] Tensor patches_of(const TensorView& images, std::int64_t patch_side);

struct PatchEncoderOptions {
  std::int64_t image_side = 0;  // pixels
  std::int64_t patch_side = 0;  // pixels, a divisor of it
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  // A learned bias a step down, step across and head, the same in each layer (Liu et al. 2021, section 3.2). Not with a
  // class token, which stands nowhere.
  bool relative = true;
  // Pixels at the right and lower ends that belong to no patch: of 384 pixels in patches of 14, 6.
  std::int64_t margin = 0;
  bool patch_bias = true;      // of the map of patches
  bool class_token = false;    // a learned vector before the patches (Dosovitskiy et al. 2021, section 3.1)
  bool distilled = false;      // another one behind it, which has a place as well: DeiT (Touvron et al. 2021)
  std::int64_t registers = 0;  // learned vectors behind these, without a place: DINOv2 (Darcet et al. 2024)
  bool input_norm = false;     // a layer norm before the first block: CLIP
  bool qkv_bias = true;        // of the maps to q, k and v
  FeedForwardKind feed_forward = FeedForwardKind::plain;
  bool layer_scale = false;  // that of BlockOptions: DINOv2
  // Images of other sizes are read as well: the positions of patches are then resized to theirs, bicubically as
  // torch.nn.functional.interpolate() does it (Oquab et al. 2024). Not with `relative`.
  bool resized_positions = false;
  Activation activation = Activation::gelu;
  double epsilon = 1e-5;

  /// ((image_side - margin) / patch_side)^2.
  [[nodiscard]] std::int64_t patches() const noexcept;
  /// What has a learned place before the patches: the class token and that of distillation, if they are there.
  [[nodiscard]] std::int64_t places_before() const noexcept { return (class_token ? 1 : 0) + (distilled ? 1 : 0); }
  /// Those, and registers.
  [[nodiscard]] std::int64_t before() const noexcept { return places_before() + registers; }
  /// Vectors that the blocks read: patches, and what stands before them.
  [[nodiscard]] std::int64_t tokens() const noexcept { return patches() + before(); }
};

/// Parameters of such an encoder, by arithmetic.
[[nodiscard]] std::int64_t parameter_count(const PatchEncoderOptions& options);

/// A map of each patch, a learned vector for each place, pre-norm blocks in which every patch sees all, a last norm. A
/// class token stands before the patches, with a place of its own.
class PatchEncoder {
 public:
  /// Draws in the order of parameters(), positions as large as what the map gives; in any floating dtype. Throws
  /// InvalidArgument naming the option, such as a patch_side that does not divide image_side.
  PatchEncoder(const PatchEncoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// images f32 [B, 3, image_side, image_side], red, green, blue in [0, 1] -> [B, tokens, d_model] in call.dtype. With
  /// resized_positions images of any height and width from a patch on; what is left over at the right and lower ends is
  /// not read. Throws InvalidArgument naming images.
  [[nodiscard]] Variable forward(const TensorView& images, const ModelCall& call = {}) const;
  /// What forward() makes of the last block's output: its last norm.
  [[nodiscard]] Variable end(const Variable& stream) const { return stack_.end(stream); }

  /// Weights of every head, [B, heads, tokens, tokens] a layer, in the default dtype of ModelCall. Allocates them
  /// all.
  [[nodiscard]] std::vector<Tensor> weights(const TensorView& images) const;

  /// patch, class.weight, distilled.weight, positions.weight, registers.weight, ln_input, relative.weight, blocks.*,
  /// ln_final, as far as they are there.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const PatchEncoderOptions& options() const noexcept { return options_; }
  /// That of the parameters.
  [[nodiscard]] DType dtype() const { return positions_.dtype(); }

 private:
  [[nodiscard]] Variable relative_bias() const;
  [[nodiscard]] Variable embedded(const TensorView& images, const ModelCall& call) const;
  [[nodiscard]] TensorView covered(const TensorView& images) const;
  [[nodiscard]] Variable positions_for(ImageSize patches) const;

  PatchEncoderOptions options_;
  Linear patch_;
  Variable class_;      // [d_model]; empty without
  Variable distilled_;  // likewise
  Variable positions_;  // [tokens without registers, d_model]
  Variable registers_;  // [registers, d_model]; empty without
  std::optional<Norm> input_norm_;
  Variable relative_;  // [(2 * across - 1)^2, heads]; empty without
  TransformerStack stack_;
};

}  // namespace qkv
