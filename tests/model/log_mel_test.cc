#include "qkv/model/log_mel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"
#include "qkv/wav.h"

namespace qkv::log_mel_test {
namespace {

const std::string kFixtures = QKV_SOURCE_DIR "/tests/model/fixtures/";

Tensor fixture_sound() { return decode_wav(read_file(kFixtures + "sound.wav"), "sound.wav").samples; }

TEST(LogMel, IsThatOfTransformers) {
  const Safetensors wanted = Safetensors::read(kFixtures + "log_mel.safetensors");
  const std::vector<double> frames = wanted.load("frames").to_vector();
  for (const std::int64_t bins : {80, 128}) {
    const Tensor made = log_mel(fixture_sound(), {.bins = bins});
    EXPECT_EQ(made.shape(), (Shape{bins, 3000}));
    const Tensor expected = wanted.load("bins." + std::to_string(bins));
    double most = 0;
    for (std::int64_t b = 0; b < bins; ++b) {
      for (std::size_t n = 0; n < frames.size(); ++n) {
        const double difference =
            made.at({b, static_cast<std::int64_t>(frames[n])}) - expected.at({b, static_cast<std::int64_t>(n)});
        most = std::max(most, std::fabs(difference));
      }
    }
    EXPECT_LT(most, 1e-5) << bins;
  }
}

TEST(LogMel, TakesOtherWindows) {
  // Of a prime length, an odd number of frames: a tone of a whole number of turns lies in one band.
  const LogMelOptions options{.rate = 1000, .bins = 3, .window = 101, .hop = 40, .seconds = 1};
  const Tensor made = log_mel(Tensor(std::vector<float>{1, 0.5}, {2}), options);
  EXPECT_EQ(made.shape(), (Shape{3, 25}));
  EXPECT_GT(made.at({0, 0}), made.at({0, 20}));
}

TEST(LogMel, SaysWhatItCannotRead) {
  const auto refusal = [](const Tensor& samples, const LogMelOptions& options) {
    return error_message<InvalidArgument>([&] { static_cast<void>(log_mel(samples, options)); });
  };
  EXPECT_EQ(refusal(Tensor(DType::f32, {480001}), {}),
            "log_mel: samples: expected 1 to 480000, 30 s at 16000 hertz, got 480001");
  EXPECT_EQ(refusal(Tensor(DType::f32, {0}), {}), "log_mel: samples: expected 1 to 480000, 30 s at 16000 hertz, got 0");
  EXPECT_EQ(refusal(Tensor(DType::f64, {8}), {}), "log_mel: samples: expected f32 [N], got f64 [8]");
  EXPECT_EQ(refusal(Tensor(DType::f32, {8}), {.hop = 0}), "log_mel: hop: expected 1 to 65536, got 0");
  EXPECT_EQ(refusal(Tensor(DType::f32, {8}), {.rate = 1 << 20, .seconds = 4096}),
            "log_mel: seconds: expected 33554432 samples or fewer at 1048576 hertz, got 4096");
  EXPECT_EQ(refusal(Tensor(DType::f32, {8}), {.bins = 4096, .hop = 1}),
            "log_mel: hop: expected so many samples that a spectrogram has 67108864 numbers or fewer, got 1");
  EXPECT_EQ(refusal(Tensor(DType::f32, {8}), {.rate = 100, .window = 200, .seconds = 1}),
            "log_mel: window: expected less than twice what is read at once, got 200");
}

TEST(LogMel, IsAsAFolderSays) {
  const tests::TemporaryDirectory directory;
  const auto read = [&](const std::string& text) {
    write_file(directory / "preprocessor_config.json", text);
    return read_log_mel_options(directory / "");
  };
  EXPECT_EQ(read("{}"), LogMelOptions());
  EXPECT_EQ(read(R"({"feature_size": 128, "sampling_rate": 8000, "hop_length": 80, "n_fft": 200, "chunk_length": 10})"),
            (LogMelOptions{.rate = 8000, .bins = 128, .window = 200, .hop = 80, .seconds = 10}));
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(read(R"({"hop_length": 0})")); }),
            directory / "preprocessor_config.json: hop_length: expected 1 to 65536, got 0");
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(read(R"({"sampling_rate": 1048576, "chunk_length": 99})")); }),
            directory /
                "preprocessor_config.json: chunk_length: expected 33554432 samples or fewer at 1048576 hertz, got "
                "99");
}

}  // namespace
}  // namespace qkv::log_mel_test
