// Images as sequences: square patches, each mapped to a vector, and an encoder over them (Dosovitskiy et al. 2021).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/model/token_input.h"

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
  // A learned bias a step down, step across and head, the same in each layer (Liu et al. 2021, section 3.2).
  bool relative = true;

  /// (image_side / patch_side)^2.
  [[nodiscard]] std::int64_t patches() const noexcept;
};

/// Parameters of such an encoder, by arithmetic.
[[nodiscard]] std::int64_t parameter_count(const PatchEncoderOptions& options);

/// A map of each patch, a learned vector for each place, pre-norm blocks in which every patch sees all, a last norm.
class PatchEncoder {
 public:
  /// Draws in the order of parameters(), positions as large as what the map gives; in any floating dtype. Throws
  /// InvalidArgument naming the option, such as a patch_side that does not divide image_side.
  PatchEncoder(const PatchEncoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// images f32 [B, 3, image_side, image_side], red, green, blue in [0, 1] -> [B, patches, d_model] in call.dtype.
  /// Throws InvalidArgument naming images.
  [[nodiscard]] Variable forward(const TensorView& images, const ModelCall& call = {}) const;

  /// Weights of every head, [B, heads, patches, patches] a layer, in the default dtype of ModelCall. Allocates them
  /// all.
  [[nodiscard]] std::vector<Tensor> weights(const TensorView& images) const;

  /// patch, positions.weight, relative.weight where it is there, blocks.*, ln_final.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const PatchEncoderOptions& options() const noexcept { return options_; }
  /// That of the parameters.
  [[nodiscard]] DType dtype() const { return positions_.dtype(); }

 private:
  [[nodiscard]] Variable relative_bias() const;
  [[nodiscard]] Variable embedded(const TensorView& images, const ModelCall& call) const;

  PatchEncoderOptions options_;
  Linear patch_;
  Variable positions_;  // [patches, d_model]
  Variable relative_;   // [(2 * across - 1)^2, heads]; empty without
  TransformerStack stack_;
};

}  // namespace qkv
