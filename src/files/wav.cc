// WAV files (RIFF; Microsoft and IBM 1991, WAVE_FORMAT_EXTENSIBLE of 2001).
#include "qkv/wav.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "files/file_kind.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr std::uint16_t kWavIntegers = 1;
constexpr std::uint16_t kWavFloats = 3;
constexpr std::uint16_t kWavExtensible = 0xFFFE;
constexpr std::size_t kChunkHead = 8;
constexpr std::size_t kShortFormat = 16;
constexpr std::size_t kLongFormat = 40;
constexpr std::size_t kMostChannels = 1024;

struct WavFormat {
  std::uint16_t kind = 0;
  std::size_t channels = 0;
  std::int64_t rate = 0;
  std::size_t block = 0;  // bytes of a sample of all channels
  std::size_t bits = 0;
};

/// The bytes of a file, and what is said of them.
class WavReader {
 public:
  WavReader(std::span<const std::byte> bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const {
    throw FileError(source_, "expected " + expected + ", got " + got);
  }

  [[nodiscard]] std::uint64_t number(std::size_t begin, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t n = 0; n < count; ++n) value |= std::to_integer<std::uint64_t>(bytes_[begin + n]) << (8 * n);
    return value;
  }

  [[nodiscard]] std::string_view word(std::size_t begin) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, 4};
  }

  Sound read() {
    require_riff();
    for (std::size_t at = 12; at + kChunkHead <= bytes_.size();) {
      const std::string name(word(at));
      const std::size_t begin = at + kChunkHead;
      const std::size_t size = number(at + 4, 4);
      if (size > bytes_.size() - begin) {
        refuse(fmt::format("{} bytes in its chunk \"{}\", as it says", size, printable(name)),
               fmt::format("{}", bytes_.size() - begin));
      }
      if (name == "fmt ") read_format(begin, size);
      if (name == "data") return samples(begin, size);
      at = begin + size + size % 2;
    }
    refuse("a chunk \"data\" of samples", "none");
  }

 private:
  static std::string printable(std::string name) {
    std::ranges::replace_if(name, [](char letter) { return letter < ' ' || letter > '~' || letter == '"'; }, '?');
    return name;
  }

  void require_riff() const {
    constexpr std::size_t kHead = 12;
    if (bytes_.size() < kHead || word(8) != "WAVE" || word(0) != "RIFF") {
      files::refuse_other_kind(files::beginning_of(bytes_), std::string(source_), "a WAV file");
      const bool is_known = bytes_.size() >= 4 && (word(0) == "RIFX" || word(0) == "RF64");
      refuse("a WAV file, \"RIFF\", a size and \"WAVE\"",
             bytes_.size() < kHead ? fmt::format("{} bytes", bytes_.size())
             : is_known            ? "\"" + std::string(word(0)) + "\", which is not read"
                        : "\"" + printable(std::string(word(0))) + "\" … \"" + printable(std::string(word(8))) + "\"");
    }
    const std::uint64_t said = number(4, 4) + kChunkHead;
    if (said > bytes_.size()) {
      refuse(fmt::format("{} bytes, as its header says", said), fmt::format("{}", bytes_.size()));
    }
  }

  void read_format(std::size_t begin, std::size_t size) {
    if (size < kShortFormat) refuse("16 bytes or more in its chunk \"fmt \"", fmt::format("{}", size));
    format_ = {.kind = static_cast<std::uint16_t>(number(begin, 2)),
               .channels = static_cast<std::size_t>(number(begin + 2, 2)),
               .rate = static_cast<std::int64_t>(number(begin + 4, 4)),
               .block = static_cast<std::size_t>(number(begin + 12, 2)),
               .bits = static_cast<std::size_t>(number(begin + 14, 2))};
    if (format_.kind == kWavExtensible) {
      if (size < kLongFormat) refuse("40 bytes or more in its chunk \"fmt \"", fmt::format("{}", size));
      format_.kind = static_cast<std::uint16_t>(number(begin + 24, 2));
    }
    const bool is_integers = format_.kind == kWavIntegers && format_.bits % 8 == 0 && format_.bits <= 32;
    const bool is_floats = format_.kind == kWavFloats && (format_.bits == 32 || format_.bits == 64);
    if (format_.bits == 0 || (!is_integers && !is_floats)) {
      refuse("PCM of 8, 16, 24 or 32 bits, or floating numbers of 32 or 64",
             fmt::format("format {} of {} bits", format_.kind, format_.bits));
    }
    if (format_.channels == 0 || format_.channels > kMostChannels) {
      refuse(fmt::format("1 to {} channels", kMostChannels), fmt::format("{}", format_.channels));
    }
    if (format_.rate == 0 || format_.rate > kHighestRate) {
      refuse(fmt::format("a rate from 1 to {} samples a second", kHighestRate), fmt::format("{}", format_.rate));
    }
    const std::size_t block = format_.channels * format_.bits / 8;
    if (format_.block != block) {
      refuse(fmt::format("blocks of {} bytes, {} channels of {} bits", block, format_.channels, format_.bits),
             fmt::format("{}", format_.block));
    }
  }

  [[nodiscard]] double sample(std::size_t at) const {
    const std::size_t count = format_.bits / 8;
    const std::uint64_t bits = number(at, count);
    if (format_.kind == kWavFloats) {
      return count == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                        : std::bit_cast<double>(bits);
    }
    if (count == 1) return (static_cast<double>(bits) - 128) / 128;
    constexpr double kHalf = 2147483648.0;
    return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) << (32 - format_.bits))) /
           kHalf;
  }

  [[nodiscard]] Sound samples(std::size_t begin, std::size_t size) const {
    if (format_.channels == 0) refuse("a chunk \"fmt \" before its samples", "none");
    if (size == 0) refuse("one sample or more", "none");
    if (size % format_.block != 0) {
      refuse(fmt::format("whole blocks of {} bytes in its chunk \"data\"", format_.block),
             fmt::format("{} bytes", size));
    }
    const std::size_t count = size / format_.block;
    Sound sound{.rate = format_.rate, .samples = Tensor(DType::f32, {static_cast<std::int64_t>(count)})};
    auto* to = sound.samples.values<float>().data();
    for (std::size_t n = 0; n < count; ++n) {
      double sum = 0;
      for (std::size_t c = 0; c < format_.channels; ++c) {
        sum += sample(begin + n * format_.block + c * format_.bits / 8);
      }
      to[n] = static_cast<float>(sum / static_cast<double>(format_.channels));
      if (!std::isfinite(to[n])) refuse("numbers", fmt::format("{} at sample {}", sum, n));
    }
    return sound;
  }

  std::span<const std::byte> bytes_;
  std::string source_;
  WavFormat format_;
};

}  // namespace

Sound decode_wav(std::span<const std::byte> bytes, std::string_view source) { return WavReader(bytes, source).read(); }

std::vector<std::byte> encode_wav(const Sound& sound) {
  if (sound.samples.dtype() != DType::f32 || sound.samples.rank() != 1 || sound.rate < 1) {
    throw InvalidArgument(
        "encode_wav", "sound", "f32 [N] at a rate of 1 or more",
        fmt::format("{} {} at {}", name_of(sound.samples.dtype()), sound.samples.shape().to_string(), sound.rate));
  }
  std::vector<std::byte> bytes;
  const auto word = [&](std::string_view text) {
    for (const char letter : text) bytes.push_back(static_cast<std::byte>(letter));
  };
  const auto number = [&](std::uint64_t value, int count) {
    for (int n = 0; n < count; ++n) bytes.push_back(static_cast<std::byte>(value >> (8 * n)));
  };
  const std::span<const float> samples = sound.samples.values<float>();
  const auto rate = static_cast<std::uint64_t>(sound.rate);
  word("RIFF");
  number(36 + 2 * samples.size(), 4);
  word("WAVEfmt ");
  number(kShortFormat, 4);
  number(kWavIntegers, 2);
  number(1, 2);
  number(rate, 4);
  number(2 * rate, 4);
  number(2, 2);
  number(16, 2);
  word("data");
  number(2 * samples.size(), 4);
  constexpr double kHalf = 32768;
  for (const float sample : samples) {
    const double rounded = std::clamp(std::nearbyint(sample * kHalf), -kHalf, kHalf - 1);
    number(static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded)), 2);
  }
  return bytes;
}

}  // namespace qkv
