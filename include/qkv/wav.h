// WAV files as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// Samples a second that a sound has at most.
inline constexpr std::int64_t kHighestRate = std::int64_t{1} << 20;

struct Sound {
  std::int64_t rate = 0;  // samples a second
  Tensor samples;         // f32 [N]
};

/// The sound of a WAV file: whole numbers of 8, 16, 24 or 32 bits, brought to [-1, 1), and floating ones of 32 or 64 as
/// they are, also by WAVE_FORMAT_EXTENSIBLE. Of several channels the mean. Chunks beside `fmt ` and `data` are left
/// out.
///
/// Errors call the bytes `source`. Throws Error with what was expected and what came for what is no WAV file, is cut
/// off, has a chunk that says more bytes than there are, another format, a rate above kHighestRate, no samples, or one
/// that is no number. Allocates the samples.
[[nodiscard]] Sound decode_wav(std::span<const std::byte> bytes, std::string_view source = "wav");

/// A WAV file of f32 [N], one channel of 16 bits; what is beyond [-1, 1) is cut. Throws InvalidArgument naming sound.
[[nodiscard]] std::vector<std::byte> encode_wav(const Sound& sound);

/// The same sound at another rate: each sample is a sum of those around its place, weighted by a sinc of the lower of
/// both rates under a Hann window of 32 zeros on each side (Smith 2002). Itself where the rates are equal. Throws
/// InvalidArgument naming rate below 1 or above kHighestRate, and sound of more than 2^29 samples at the new rate.
/// Allocates the result.
[[nodiscard]] Sound resampled(const Sound& sound, std::int64_t rate);

}  // namespace qkv
