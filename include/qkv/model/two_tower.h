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
#include "qkv/nn/attention_pool.h"

namespace qkv {

/// The loss of CLIP (Radford et al. 2021, figure 3) over B pairs, of which image n and text n belong together: the mean
/// of the two cross-entropies of the cosines [B, B] times exp(log_scale), to find the text of each image and the image
/// of each text. images and texts [B, E] of length 1 each and log_scale [1] of one dtype -> rank 0. Throws
/// InvalidArgument naming texts or log_scale.
[[nodiscard]] Variable contrastive_loss(const Variable& images, const Variable& texts, const Variable& log_scale);

/// How the loss takes the scores of B images and B texts.
enum class PairLoss : std::uint8_t {
  softmax,  // each finds its own among the others: CLIP
  sigmoid,  // each pair by itself belongs together or not, with a learned bias: SigLIP (Zhai et al. 2023)
};
/// "softmax", "sigmoid"
[[nodiscard]] std::string_view name_of(PairLoss loss) noexcept;

/// Cosines [I, T] of images [I, E] and texts [T, E] of length 1 each, times exp(log_scale) and, if it is not empty,
/// plus `bias`; both [1]. Throws InvalidArgument naming texts or log_scale.
[[nodiscard]] Variable pair_scores(const Variable& images, const Variable& texts, const Variable& log_scale,
                                   const Variable& bias = {});
/// Of scores [B, B], of which [n, n] are those of pairs -> rank 0: the mean of the two cross-entropies; or, by sigmoid,
/// the sum over the texts of -log sigmoid(score) of its image and of -score of the others, meaned over the images.
/// Throws InvalidArgument naming scores.
[[nodiscard]] Variable pair_loss(PairLoss loss, const Variable& scores);

/// What stands for an image.
enum class ImagePooling : std::uint8_t {
  mean,         // of all patches
  class_token,  // a vector before the patches: CLIP
  attention,    // AttentionPool: SigLIP
};
/// "mean", "class_token", "attention"
[[nodiscard]] std::string_view name_of(ImagePooling pooling) noexcept;

/// What stands for a text.
enum class TextPooling : std::uint8_t {
  mean,     // of its tokens
  last,     // the last place of the row, padding or not: SigLIP, which pads every text to its longest
  end,      // the first token that is options.end, or in a text without one its first token: CLIP
  highest,  // the first of the highest number: CLIP's first configs, where that is the end
};
/// "mean", "last", "end", "highest"
[[nodiscard]] std::string_view name_of(TextPooling pooling) noexcept;

struct TwoTowerOptions {
  std::int64_t image_side = 0;  // pixels
  std::int64_t patch_side = 0;  // pixels, a divisor of it
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t image_layers = 2;
  std::int64_t text_layers = 2;
  std::int64_t d_model = 64;  // of both, as heads and d_ff, if the image tower has none of its own
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;         // 4 * d_model by default
  std::optional<std::int64_t> d_embedding = std::nullopt;  // of what the towers give; d_model by default
  Positions positions = Positions::rotary;                 // of tokens; patches have a learned vector each
  bool relative = true;                                    // that of PatchEncoderOptions
  std::optional<std::int64_t> image_d_model = std::nullopt;
  std::optional<std::int64_t> image_heads = std::nullopt;
  std::optional<std::int64_t> image_d_ff = std::nullopt;
  Activation activation = Activation::gelu;  // of the text tower
  Activation image_activation = Activation::gelu;
  double epsilon = 1e-5;  // of the norms of the text tower
  double image_epsilon = 1e-5;
  std::int64_t image_margin = 0;                       // that of PatchEncoderOptions
  bool patch_bias = true;                              // likewise
  bool image_norm = false;                             // input_norm there
  SelfAttention self_attention = SelfAttention::full;  // of the text tower
  ImagePooling image_pooling = ImagePooling::mean;
  TextPooling text_pooling = TextPooling::mean;
  std::optional<std::int64_t> end = std::nullopt;  // for TextPooling::end
  bool image_map = true;                           // without it, what stands for an image is its embedding
  bool text_map_bias = false;
  PairLoss loss = PairLoss::softmax;
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

/// A PatchEncoder and an Encoder of texts; of each what stands for the whole, by default the mean of what it gives (of
/// a text without its padding), mapped and brought to length 1.
class TwoTower {
 public:
  /// Draws in the order of parameters(), in any floating dtype. log_scale starts at ln(1 / 0.07), or at ln 10 beside a
  /// logit_bias of -10, as in CLIP and SigLIP. Throws InvalidArgument naming the option, such as a patch_side that does
  /// not divide image_side.
  TwoTower(const TwoTowerOptions& options, const Init& init, DType dtype = DType::f32);

  /// images f32 [B, 3, image_side, image_side] -> [B, d_embedding], each of length 1; the encoder computes in
  /// call.dtype, what follows in the default one of ModelCall. The cosine of two embeddings is their product. Throws
  /// InvalidArgument naming images.
  [[nodiscard]] Variable embed_images(const TensorView& images, const ModelCall& call = {}) const;
  /// Texts likewise. Throws InvalidArgument naming ids or lengths; a text needs a token.
  [[nodiscard]] Variable embed_texts(const PaddedTokens& texts, const ModelCall& call = {}) const;

  /// pair_scores() of embeddings [I, d_embedding] and [T, d_embedding].
  [[nodiscard]] Variable scores(const Variable& images, const Variable& texts) const;
  /// pair_loss() of image n and text n. With softmax, a log_scale that a step has brought above ln 100 is first set to
  /// that, as CLIP clips it. Throws InvalidArgument naming what the embeddings name, or scores if there are not as many
  /// texts as images.
  [[nodiscard]] Variable loss(const TensorView& images, const PaddedTokens& texts, const ModelCall& call = {}) const;

  /// The same of what embed_images() and embed_texts() gave.
  [[nodiscard]] Variable loss_of_embeddings(const Variable& images, const Variable& texts) const;

  /// Weights of every head, one tensor a layer, in the default dtype of ModelCall. Allocates them all.
  [[nodiscard]] TwoTowerWeights weights(const TensorView& images, const PaddedTokens& texts) const;

  /// image.*, text.*, image_pool.*, image_map.weight, text_map.*, log_scale, logit_bias, as far as they are there.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const TwoTowerOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] Variable pooled_image(const Variable& patches) const;
  // In which it computes what follows the encoders.
  [[nodiscard]] DType wide() const;

  TwoTowerOptions options_;
  PatchEncoder image_;
  Encoder text_;
  std::optional<AttentionPool> image_pool_;
  std::optional<Linear> image_map_;
  Linear text_map_;
  Variable log_scale_;   // [1]
  Variable logit_bias_;  // [1]; empty without
};

}  // namespace qkv
