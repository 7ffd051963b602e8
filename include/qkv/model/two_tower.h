// Images and texts in one space: an encoder for each, and what belongs together lies together (Radford et al. 2021,
// CLIP).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/encoder.h"
#include "qkv/model/patch_encoder.h"

namespace qkv {

/// The loss of CLIP (Radford et al. 2021, figure 3) over B pairs, of which image n and text n belong together: the mean
/// of the two cross-entropies of the cosines [B, B] times exp(log_scale), to find the text of each image and the image
/// of each text. images and texts [B, E] of length 1 each and log_scale [1] of one dtype -> rank 0. Throws
/// InvalidArgument naming texts or log_scale.
[[nodiscard]] Variable contrastive_loss(const Variable& images, const Variable& texts, const Variable& log_scale);

struct TwoTowerOptions {
  std::int64_t image_side = 0;  // pixels
  std::int64_t patch_side = 0;  // pixels, a divisor of it
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t image_layers = 2;
  std::int64_t text_layers = 2;
  std::int64_t d_model = 64;  // of both
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;         // 4 * d_model by default
  std::optional<std::int64_t> d_embedding = std::nullopt;  // of what the towers give; d_model by default
  Positions positions = Positions::rotary;                 // of tokens; patches have a learned vector each
  bool relative = true;                                    // that of PatchEncoderOptions
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const TwoTowerOptions& options);
[[nodiscard]] TwoTowerOptions two_tower_options(const std::map<std::string, std::string>& config);

/// Parameters of such a model, by arithmetic; the number of heads changes it for tables of biases alone.
[[nodiscard]] std::int64_t parameter_count(const TwoTowerOptions& options);

/// Weights of every head, one tensor a layer.
struct TwoTowerWeights {
  std::vector<Tensor> patches;  // [B, heads, patches, patches]
  std::vector<Tensor> tokens;   // [B, heads, T, T]
};

/// A PatchEncoder and an Encoder of texts, in which each token sees all; of each the mean of what it gives (of a text
/// without its padding), mapped without a bias and brought to length 1.
class TwoTower {
 public:
  /// Draws in the order of parameters(), in any floating dtype. log_scale starts at ln(1 / 0.07). Throws
  /// InvalidArgument naming the option, such as a patch_side that does not divide image_side.
  TwoTower(const TwoTowerOptions& options, const Init& init, DType dtype = DType::f32);

  /// images f32 [B, 3, image_side, image_side] -> [B, d_embedding], each of length 1; the encoder computes in
  /// call.dtype, what follows in the dtype of the parameters. The cosine of two embeddings is their product. Throws
  /// InvalidArgument naming images.
  [[nodiscard]] Variable embed_images(const TensorView& images, const ModelCall& call = {}) const;
  /// Texts likewise. Throws InvalidArgument naming ids or lengths; a text needs a token.
  [[nodiscard]] Variable embed_texts(const PaddedTokens& texts, const ModelCall& call = {}) const;

  /// contrastive_loss() of image n and text n. A log_scale that a step has brought above ln 100 is first set to that,
  /// as CLIP clips it. Throws InvalidArgument naming what the embeddings name, or texts if they are not as many.
  [[nodiscard]] Variable loss(const TensorView& images, const PaddedTokens& texts, const ModelCall& call = {}) const;

  /// The same of what embed_images() and embed_texts() gave.
  [[nodiscard]] Variable loss_of_embeddings(const Variable& images, const Variable& texts) const;

  /// Weights of every head, one tensor a layer, in the default dtype of ModelCall. Allocates them all.
  [[nodiscard]] TwoTowerWeights weights(const TensorView& images, const PaddedTokens& texts) const;

  /// image.*, text.*, image_map.weight, text_map.weight, log_scale.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const TwoTowerOptions& options() const noexcept { return options_; }

 private:
  TwoTowerOptions options_;
  PatchEncoder image_;
  Encoder text_;
  Linear image_map_;
  Linear text_map_;
  Variable log_scale_;  // [1]
};

}  // namespace qkv
