// Sound as a sequence: two convolutions over a spectrogram, and an encoder over what they give (Radford et al. 2022).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/model/layer_choices.h"
#include "qkv/model/token_input.h"
#include "qkv/nn/activation.h"

namespace qkv {

inline constexpr std::int64_t kFramesOfAPlace = 2;  // by the second convolution

struct SoundEncoderOptions {
  std::int64_t bins = 80;      // of a frame of the spectrogram
  std::int64_t frames = 3000;  // a multiple of kFramesOfAPlace
  std::int64_t layers = 2;
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Activation activation = Activation::gelu;         // of the blocks; behind the convolutions stands GELU
  LayerChoices choices = {};

  /// What the blocks read.
  [[nodiscard]] std::int64_t places() const noexcept { return frames / kFramesOfAPlace; }
};

/// Parameters of such an encoder, by arithmetic.
[[nodiscard]] std::int64_t parameter_count(const SoundEncoderOptions& options);

/// Convolutions over three frames each, the second one in steps of two, with GELU behind both; a vector for each place;
/// pre-norm blocks in which every place sees all; a last norm.
class SoundEncoder {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option, such as
  /// frames that are no even number.
  SoundEncoder(const SoundEncoderOptions& options, const Init& init, DType dtype = DType::f32);

  /// sounds f32 [B, bins, frames], of log_mel() -> [B, places, d_model] in call.dtype. Throws InvalidArgument naming
  /// sounds.
  [[nodiscard]] Variable forward(const TensorView& sounds, const ModelCall& call = {}) const;

  /// conv1, conv2 [d_model, channels * 3] with a bias each, positions.weight, blocks.*, ln_final.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const SoundEncoderOptions& options() const noexcept { return options_; }

 private:
  SoundEncoderOptions options_;
  Linear conv1_;
  Linear conv2_;
  Variable positions_;  // [places, d_model]
  TransformerStack stack_;
};

}  // namespace qkv
