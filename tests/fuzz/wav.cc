// Any bytes as a WAV file: an error, or a sound that comes back from what it is written as, at another rate, and as a
// spectrogram.
#include "qkv/wav.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "qkv/error.h"
#include "qkv/model/log_mel.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void require_numbers(const qkv::Tensor& tensor) {
  for (const double number : tensor.to_vector()) require(std::isfinite(number));
}

// The first samples are enough to find a fault; the others would only take time.
qkv::Sound beginning_of(const qkv::Sound& sound, std::int64_t most) {
  const std::int64_t count = std::min(sound.samples.size(), most);
  return {.rate = sound.rate, .samples = qkv::Tensor(sound.samples.view().slice(0, 0, count))};
}

void require_same_length(const qkv::Sound& sound) {
  const qkv::Sound again = qkv::decode_wav(qkv::encode_wav(sound));
  require(again.rate == sound.rate && again.samples.shape() == sound.samples.shape());
}

void use(const qkv::Sound& sound) {
  constexpr std::int64_t kMost = 2000;
  const qkv::LogMelOptions options{.rate = 4000, .bins = 8, .window = 100, .hop = 40, .seconds = 1};
  const qkv::Sound beginning = beginning_of(sound, kMost);
  // Half a second: at a rate of 1, each sample becomes a second at the other rate.
  const qkv::Sound some = beginning_of(beginning, std::max<std::int64_t>(1, beginning.rate / 2));
  const qkv::Sound other = qkv::resampled(some, options.rate);
  require(other.rate == options.rate && other.samples.size() > 0);
  require(other.samples.size() == (some.samples.size() * options.rate + some.rate - 1) / some.rate);
  const qkv::Sound read = beginning_of(other, options.samples());
  const qkv::Tensor spectrogram = qkv::log_mel(read.samples, options);
  require(spectrogram.shape() == qkv::Shape{options.bins, options.frames()});
  const bool is_audible =
      std::ranges::all_of(some.samples.values<float>(), [](float s) { return std::fabs(s) < 1e30F; });
  if (!is_audible) return;
  require_numbers(other.samples);
  require_numbers(spectrogram);
  require_same_length(beginning);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::Sound sound;
  try {
    sound = qkv::decode_wav(std::as_bytes(std::span(data, size)));
  } catch (const qkv::InvalidArgument&) {
    std::abort();  // a malformed file is never the caller's misuse
  } catch (const qkv::Error&) {
    return 0;
  }
  require(sound.samples.size() > 0 && sound.rate > 0);
  require_numbers(sound.samples);
  use(sound);
  return 0;
}
