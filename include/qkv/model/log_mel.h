// Sound as a model of speech reads it: how loud each band of pitches is, hundred times a second.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/tensor.h"

namespace qkv {

/// As WhisperFeatureExtractor of `transformers` has it.
struct LogMelOptions {
  std::int64_t rate = 16000;  // samples a second
  std::int64_t bins = 80;     // bands from 0 to 8000 hertz, evenly spaced in mel
  std::int64_t window = 400;  // samples of a transform
  std::int64_t hop = 160;     // from one to the next
  std::int64_t seconds = 30;  // of what a model reads at once

  [[nodiscard]] std::int64_t samples() const noexcept { return seconds * rate; }
  [[nodiscard]] std::int64_t frames() const noexcept { return hop > 0 ? samples() / hop : 0; }

  bool operator==(const LogMelOptions&) const = default;
};

/// That of preprocessor_config.json in a folder as others publish models, or of processor_config.json if there is none.
/// Throws Error naming the file and the word that is missing or has no meaning.
[[nodiscard]] LogMelOptions read_log_mel_options(const std::string& folder);

/// samples f32 [N], silence behind them up to options.samples() -> f32 [bins, frames()]. The power of a Fourier
/// transform under a Hann window, the sound mirrored at both ends, in bands as Slaney (1998) has them, by log10 from
/// 1e-10 on; no less than 8 below the largest; x becomes (x + 4) / 4. Computed in f64. Allocates the padded sound, of
/// 2^25 samples at most, and the result, of 2^26 numbers at most. Throws InvalidArgument naming samples, also where
/// there are more, or the option that has no meaning.
[[nodiscard]] Tensor log_mel(const TensorView& samples, const LogMelOptions& options = {});

}  // namespace qkv
