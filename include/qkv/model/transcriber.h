// Sound in, text out: an encoder over a spectrogram, and a decoder whose cross-attention reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/model/generate.h"
#include "qkv/model/sound_encoder.h"

namespace qkv {

struct TranscriberOptions {
  std::int64_t bins = 80;      // of a frame of the spectrogram
  std::int64_t frames = 3000;  // a multiple of kFramesOfAPlace
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  // tokens of the longest text in training; only `learned` ends there
  std::int64_t encoder_layers = 2;
  std::int64_t layers = 2;    // of the decoder
  std::int64_t d_model = 64;  // of both
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;   // 4 * d_model by default
  Positions positions = Positions::learned;          // of tokens; places of the sound have a vector each
  Activation activation = Activation::gelu;          // of both
  bool tied = true;                                  // the output map is the embedding's table
  std::optional<std::int64_t> start = std::nullopt;  // the token with which a text begins where none is given
  LayerChoices choices = {};                         // of both
};

/// The options as words, for a checkpoint, and back. Throws InvalidArgument naming the word that is missing or has no
/// meaning.
[[nodiscard]] std::map<std::string, std::string> config_of(const TranscriberOptions& options);
[[nodiscard]] TranscriberOptions transcriber_options(const std::map<std::string, std::string>& config);

/// Parameters of such a model, by arithmetic.
[[nodiscard]] std::int64_t parameter_count(const TranscriberOptions& options);

/// SoundEncoder, and a pre-norm Decoder over what it gives: Whisper (Radford et al. 2022).
class Transcriber {
 public:
  /// Draws in the order of parameters(), in any floating dtype. Throws InvalidArgument naming the option.
  Transcriber(const TranscriberOptions& options, const Init& init, DType dtype = DType::f32);

  /// sounds f32 [B, bins, frames] and ids [B, T] of i64 or i32 -> scores [B, T, vocabulary] in call.dtype of the token
  /// after each. Throws InvalidArgument naming sounds, ids or context.
  [[nodiscard]] Variable forward(const TensorView& sounds, const TensorView& ids, const ModelCall& call = {}) const;

  /// What generate() writes of each sound after prompt [B, T], over a cache; without a prompt (an empty view), after
  /// options().start. Encodes the sounds once. Throws InvalidArgument naming sounds, or as generate() does.
  [[nodiscard]] NewTokens generate(const TensorView& sounds, const TensorView& prompt,
                                   const GenerateOptions& options) const;

  /// encoder.* and decoder.*, as the parts name them.
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const TranscriberOptions& options() const noexcept { return options_; }
  [[nodiscard]] const SoundEncoder& encoder() const noexcept { return encoder_; }
  [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }

 private:
  TranscriberOptions options_;
  SoundEncoder encoder_;
  Decoder decoder_;
};

}  // namespace qkv
