#include "qkv/wav.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "core/error_message.h"
#include "qkv/error.h"

namespace qkv::wav_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
using Bytes = std::vector<std::byte>;

struct Said {
  std::uint64_t kind = 1;
  std::uint64_t channels = 1;
  std::uint64_t bits = 16;
  std::uint64_t rate = 16000;
};

void add(Bytes& bytes, std::uint64_t value, int count) {
  for (int n = 0; n < count; ++n) bytes.push_back(static_cast<std::byte>(value >> (8 * n)));
}
void add(Bytes& bytes, std::string_view text) {
  for (const char letter : text) bytes.push_back(static_cast<std::byte>(letter));
}
void put(Bytes& bytes, std::size_t at, std::uint64_t value) {
  Bytes number;
  add(number, value, 4);
  std::ranges::copy(number, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

// With an odd chunk of no use before the samples.
Bytes wav(const Said& said, const Bytes& samples) {
  Bytes bytes;
  add(bytes, "RIFF");
  add(bytes, 0, 4);
  add(bytes, "WAVEfmt ");
  add(bytes, 16, 4);
  add(bytes, said.kind, 2);
  add(bytes, said.channels, 2);
  add(bytes, said.rate, 4);
  add(bytes, said.rate * said.channels * said.bits / 8, 4);
  add(bytes, said.channels * said.bits / 8, 2);
  add(bytes, said.bits, 2);
  add(bytes, "LIST");
  add(bytes, 3, 4);
  add(bytes, "abc");
  add(bytes, 0, 1);
  add(bytes, "data");
  add(bytes, samples.size(), 4);
  bytes.insert(bytes.end(), samples.begin(), samples.end());
  put(bytes, 4, bytes.size() - 8);
  return bytes;
}

Bytes of(std::initializer_list<std::uint64_t> values, int count) {
  Bytes bytes;
  for (const std::uint64_t value : values) add(bytes, value, count);
  return bytes;
}

std::vector<double> read(const Bytes& bytes) { return decode_wav(bytes, "a.wav").samples.to_vector(); }
std::string refusal(const Bytes& bytes) {
  return error_message<Error>([&] { static_cast<void>(decode_wav(bytes, "a.wav")); });
}

TEST(Wav, ReadsWholeNumbersOfEachWidth) {
  EXPECT_THAT(read(wav({.bits = 8}, of({128, 0, 192}, 1))), ElementsAre(0, -1, 0.5));
  EXPECT_THAT(read(wav({}, of({0, 0x8000, 0x4000}, 2))), ElementsAre(0, -1, 0.5));
  EXPECT_THAT(read(wav({.bits = 24}, of({0, 0x800000, 0x400000}, 3))), ElementsAre(0, -1, 0.5));
  EXPECT_THAT(read(wav({.bits = 32}, of({0, 0x80000000, 0x40000000}, 4))), ElementsAre(0, -1, 0.5));
  EXPECT_EQ(decode_wav(wav({.rate = 44100}, of({1}, 2))).rate, 44100);
}

TEST(Wav, ReadsFloatingNumbers) {
  EXPECT_THAT(read(wav({.kind = 3, .bits = 32}, of({0x3F000000, 0xC0000000}, 4))), ElementsAre(0.5, -2));
  EXPECT_THAT(read(wav({.kind = 3, .bits = 64}, of({0x3FE0000000000000}, 8))), ElementsAre(0.5));
}

TEST(Wav, TakesTheMeanOfChannels) {
  EXPECT_THAT(read(wav({.channels = 2}, of({0x4000, 0, 0x4000, 0x2000}, 2))), ElementsAre(0.25, 0.375));
}

TEST(Wav, ReadsTheExtensibleFormat) {
  Bytes bytes;
  add(bytes, "RIFF");
  add(bytes, 4 + 8 + 40 + 8 + 2, 4);
  add(bytes, "WAVEfmt ");
  add(bytes, 40, 4);
  add(bytes, 0xFFFE, 2);
  add(bytes, 1, 2);
  add(bytes, 8000, 4);
  add(bytes, 16000, 4);
  add(bytes, 2, 2);
  add(bytes, 16, 2);
  add(bytes, 22, 2);
  add(bytes, 16, 2);
  add(bytes, 4, 4);
  add(bytes, 1, 2);
  bytes.resize(bytes.size() + 14);
  add(bytes, "data");
  add(bytes, 2, 4);
  add(bytes, 0x4000, 2);
  EXPECT_THAT(read(bytes), ElementsAre(0.5));
}

TEST(Wav, SaysWhatIsWrong) {
  const Bytes whole = wav({}, of({1, 2, 3}, 2));
  EXPECT_EQ(refusal({}), "a.wav: expected a WAV file, \"RIFF\", a size and \"WAVE\", got 0 bytes");
  EXPECT_EQ(refusal(of({0x474E5089, 0, 0x0A0A0A0A}, 4)), "a.wav: expected a WAV file, got a PNG picture");
  Bytes other = whole;
  put(other, 0, 0x34364652);
  EXPECT_EQ(refusal(other),
            "a.wav: expected a WAV file, \"RIFF\", a size and \"WAVE\", got \"RF64\", which is not read");
  EXPECT_EQ(refusal(Bytes(whole.begin(), whole.end() - 1)), "a.wav: expected 62 bytes, as its header says, got 61");
  Bytes lying = whole;
  put(lying, 52, 0xFFFFFFFF);
  EXPECT_EQ(refusal(lying), "a.wav: expected 4294967295 bytes in its chunk \"data\", as it says, got 6");
  EXPECT_EQ(refusal(wav({}, {})), "a.wav: expected one sample or more, got none");
  EXPECT_EQ(refusal(wav({}, of({1}, 1))), "a.wav: expected whole blocks of 2 bytes in its chunk \"data\", got 1 bytes");
  EXPECT_EQ(refusal(wav({.kind = 7, .bits = 8}, of({1}, 1))),
            "a.wav: expected PCM of 8, 16, 24 or 32 bits, or floating numbers of 32 or 64, got format 7 of 8 bits");
  EXPECT_EQ(refusal(wav({.bits = 12}, of({1}, 2))),
            "a.wav: expected PCM of 8, 16, 24 or 32 bits, or floating numbers of 32 or 64, got format 1 of 12 bits");
  EXPECT_EQ(refusal(wav({.channels = 0}, of({1}, 2))), "a.wav: expected 1 to 1024 channels, got 0");
  EXPECT_EQ(refusal(wav({.rate = 0}, of({1}, 2))), "a.wav: expected a rate from 1 to 1048576 samples a second, got 0");
  EXPECT_EQ(refusal(wav({.rate = 0xFFFFFFFF}, of({1}, 2))),
            "a.wav: expected a rate from 1 to 1048576 samples a second, got 4294967295");
  EXPECT_EQ(refusal(wav({.kind = 3, .bits = 32}, of({0, 0x7FC00000}, 4))),
            "a.wav: expected numbers, got nan at sample 1");
  EXPECT_EQ(refusal(Bytes(whole.begin(), whole.begin() + 12)),
            "a.wav: expected " + std::to_string(whole.size()) + " bytes, as its header says, got 12");
  Bytes empty(whole.begin(), whole.begin() + 12);
  put(empty, 4, 4);
  EXPECT_EQ(refusal(empty), "a.wav: expected a chunk \"data\" of samples, got none");
}

TEST(Wav, ComesBackFromWhatItWrites) {
  const Sound sound{.rate = 22050, .samples = Tensor(std::vector<float>{0, 0.5, -1, 0.25}, {4})};
  const Sound again = decode_wav(encode_wav(sound));
  EXPECT_EQ(again.rate, 22050);
  EXPECT_EQ(again.samples.to_vector(), sound.samples.to_vector());
  EXPECT_EQ(
      decode_wav(encode_wav({.rate = 1, .samples = Tensor(std::vector<float>{9}, {1})})).samples.to_vector().front(),
      32767.0 / 32768);
}

Sound sine(std::int64_t rate, double hertz) {
  Sound sound{.rate = rate, .samples = Tensor(DType::f32, {rate / 5})};
  float* to = sound.samples.values<float>().data();
  for (std::int64_t n = 0; n < rate / 5; ++n) {
    to[n] =
        static_cast<float>(std::sin(2 * std::numbers::pi * hertz * static_cast<double>(n) / static_cast<double>(rate)));
  }
  return sound;
}

// Away from both ends, beyond which there is silence.
std::vector<float> middle(const Sound& sound) {
  const auto all = sound.samples.values<float>();
  const std::size_t edge = all.size() / 8;
  return {all.begin() + static_cast<std::ptrdiff_t>(edge), all.end() - static_cast<std::ptrdiff_t>(edge)};
}

TEST(Resampled, KeepsATone) {
  for (const std::int64_t from : {8000, 11025, 22050, 44100, 48000}) {
    const Sound made = resampled(sine(from, 440), 16000);
    const Sound wanted = sine(16000, 440);
    EXPECT_EQ(made.rate, 16000);
    EXPECT_EQ(made.samples.size(), wanted.samples.size()) << from;
    EXPECT_THAT(middle(made), Pointwise(FloatNear(2e-3F), middle(wanted))) << from;
  }
}

TEST(Resampled, LeavesOutWhatTheRateCannotHold) {
  const Sound made = resampled(sine(48000, 11000), 16000);
  EXPECT_THAT(middle(made), testing::Each(FloatNear(0, 2e-3F)));
}

TEST(Resampled, RefusesARateWithoutMeaning) {
  EXPECT_EQ(error_message<InvalidArgument>([] { static_cast<void>(resampled(sine(8000, 1), 0)); }),
            "resampled: rate: expected 1 to 2^20 samples a second, got 8000 to 0");
}

// A file of some bytes may say that each is a second.
TEST(Resampled, RefusesASoundThatWouldFillTheMemory) {
  const Sound slow{.rate = 1, .samples = Tensor(DType::f32, {1000})};
  EXPECT_EQ(error_message<InvalidArgument>([&] { static_cast<void>(resampled(slow, 1 << 20)); }),
            "resampled: sound: expected one of 536870912 samples or fewer at 1048576 a second, got 1000 samples at 1 a "
            "second, which are 1048576000");
}

}  // namespace
}  // namespace qkv::wav_test
