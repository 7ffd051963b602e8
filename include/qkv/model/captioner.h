// Images in, captions out: an encoder over patches, and a decoder whose cross-attention reads them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/model/generate.h"
#include "qkv/model/patch_encoder.h"

namespace qkv {

struct CaptionerOptions {
  std::int64_t image_side = 0;  // pixels
  std::int64_t patch_side = 0;  // pixels, a divisor of it
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest caption in training; only `learned` ends there
  std::int64_t encoder_layers = 2;
  std::int64_t layers = 2;    // of the decoder
  std::int64_t d_model = 64;  // of both
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Positions positions = Positions::rotary;          // of tokens; patches have a learned vector each
  bool tied = true;                                 // the output map is the embedding's table
  bool relative = true;                             // that of PatchEncoderOptions
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const CaptionerOptions& options);
[[nodiscard]] CaptionerOptions captioner_options(const std::map<std::string, std::string>& config);

/// Parameters of such a model, by arithmetic; the number of heads changes it for tables of biases alone.
[[nodiscard]] std::int64_t parameter_count(const CaptionerOptions& options);

/// PatchEncoder, and a Decoder over what it gives (the captioners of Vinyals et al. 2015 and Xu et al. 2015, of
/// transformers).
class Captioner {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option, such as
  /// a patch_side that does not divide image_side.
  Captioner(const CaptionerOptions& options, const Init& init, DType dtype = DType::f32);

  /// images f32 [B, 3, image_side, image_side] and ids [B, T] of i64 or i32 -> scores [B, T, vocabulary] in call.dtype
  /// of the token after each. A query sees tokens up to its own, so captions that are padded at their end need no mask:
  /// leave the places of the padding out of the loss. Throws InvalidArgument naming images, ids or context.
  [[nodiscard]] Variable forward(const TensorView& images, const TensorView& ids, const ModelCall& call = {}) const;

  /// What generate() writes of each image after prompt [B, T], over a cache. Encodes the images once. Throws
  /// InvalidArgument naming images, or as generate() does.
  [[nodiscard]] NewTokens generate(const TensorView& images, const TensorView& prompt,
                                   const GenerateOptions& options) const;

  /// Weights of every head, one tensor a layer: tokens [B, heads, T, T], cross [B, heads, T, patches], in the
  /// default dtype of ModelCall. Allocates them all.
  [[nodiscard]] DecoderWeights weights(const TensorView& images, const TensorView& ids) const;

  /// encoder.* and decoder.*, as the parts name them.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const CaptionerOptions& options() const noexcept { return options_; }
  [[nodiscard]] const PatchEncoder& encoder() const noexcept { return encoder_; }
  [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }

 private:
  CaptionerOptions options_;
  PatchEncoder encoder_;
  Decoder decoder_;
};

}  // namespace qkv
