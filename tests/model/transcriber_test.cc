#include "qkv/model/transcriber.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/autograd/softmax.h"
#include "qkv/error.h"
#include "qkv/model/model.h"
#include "qkv/random.h"

namespace qkv::transcriber_test {
namespace {

TranscriberOptions small() {
  TranscriberOptions options{.bins = 3,
                             .frames = 10,
                             .vocabulary = 11,
                             .length = 8,
                             .encoder_layers = 1,
                             .layers = 2,
                             .d_model = 8,
                             .heads = 2,
                             .start = 4};
  options.choices.key_bias = false;
  return options;
}

Transcriber transcriber(const TranscriberOptions& options = small()) {
  Generator generator(3);
  return {options, generator};
}

Tensor sounds(std::int64_t count) { return Generator(5).randn({count, 3, 10}); }

const Variable& parameter(const Parameters& all, const std::string& name) {
  return std::ranges::find(all, name, &Parameter::name)->value;
}

TEST(Transcriber, GivesScoresOfEachToken) {
  const Tensor ids(std::vector<std::int64_t>{4, 1, 2, 4, 0, 3}, {2, 3});
  const Tensor read = sounds(2);
  EXPECT_EQ(transcriber().forward(read, ids).shape(), (Shape{2, 3, 11}));
  const NewTokens written = transcriber().generate(read, {}, {.most = 3});
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written.front().size(), 3U);
}

TEST(Transcriber, CountsItsParameters) {
  std::int64_t count = 0;
  for (const Parameter& one : transcriber().parameters()) {
    count += one.value.size();
    EXPECT_EQ(one.name.find(".k.bias"), std::string::npos) << one.name;
  }
  EXPECT_EQ(count, parameter_count(small()));
}

// What the first convolution gives, by its definition.
TEST(Transcriber, ReadsEachFrameBesideItsNeighbours) {
  const Transcriber model = transcriber();
  const Tensor read = sounds(1);
  Trace trace({"encoder.conv1"});
  static_cast<void>(model.forward(read, Tensor(std::vector<std::int64_t>{4}, {1, 1}), {.trace = &trace}));
  const Tensor made = trace["encoder.conv1"];
  ASSERT_EQ(made.shape(), (Shape{1, 10, 8}));
  const Parameters all = model.parameters();
  const TensorView weight = parameter(all, "encoder.conv1.weight").value();
  const TensorView bias = parameter(all, "encoder.conv1.bias").value();
  for (std::int64_t t = 0; t < 10; ++t) {
    for (std::int64_t out = 0; out < 8; ++out) {
      double sum = bias.at({out});
      for (std::int64_t bin = 0; bin < 3; ++bin) {
        for (std::int64_t tap = 0; tap < 3; ++tap) {
          const std::int64_t at = t + tap - 1;
          if (at >= 0 && at < 10) sum += weight.at({out, bin * 3 + tap}) * read.at({0, bin, at});
        }
      }
      EXPECT_NEAR(made.at({0, t, out}), sum, 1e-5);
    }
  }
}

TEST(Transcriber, ComesBackFromItsFile) {
  const tests::TemporaryDirectory directory;
  const Model model{Model::Network(transcriber())};
  model.save(directory / "model.safetensors");
  const Model again = Model::open(directory / "model.safetensors");
  EXPECT_EQ(again.kind(), kind_of<Transcriber>);
  EXPECT_EQ(again.config(), model.config());
  const Tensor read = sounds(1), ids(std::vector<std::int64_t>{4, 1}, {1, 2});
  const ModelInput input{.ids = ids, .sounds = read};
  EXPECT_EQ(again.forward(input).value().to_vector(), model.forward(input).value().to_vector());
  EXPECT_EQ(model.weights(input, AttentionSite::cross).front().shape(), (Shape{1, 2, 2, 5}));
  EXPECT_EQ(model.weights(input, AttentionSite::source).front().shape(), (Shape{1, 2, 5, 5}));
}

TEST(Transcriber, NamesWhatDoesNotFit) {
  const auto refusal = [](TranscriberOptions options) {
    return error_message<InvalidArgument>([&] { static_cast<void>(transcriber(options)); });
  };
  TranscriberOptions odd = small();
  odd.frames = 9;
  EXPECT_EQ(refusal(odd), "SoundEncoder: frames: expected an even number from 2 to 1048576, got 9");
  TranscriberOptions none = small();
  none.start = 11;
  EXPECT_EQ(refusal(none), "Transcriber: start: expected a token from 0 to 10, got 11");
  const Tensor shorter = Generator(5).randn({1, 3, 8});
  EXPECT_EQ(error_message<InvalidArgument>([&] { static_cast<void>(transcriber().generate(shorter, {}, {})); }),
            "SoundEncoder: sounds: expected f32 [B, 3, 10], got f32 [1, 3, 8]");
}

TEST(Transcriber, NeverBeginsWithWhatItShouldNot) {
  const Tensor read = sounds(1);
  const std::int64_t first = transcriber().generate(read, {}, {.most = 1}).front().front();
  const NewTokens other = transcriber().generate(read, {}, {.most = 2, .never_first = {first}});
  EXPECT_NE(other.front().front(), first);
  const NewTokens beams = transcriber().generate(read, {}, {.most = 2, .beams = 3, .never_first = {first}});
  EXPECT_NE(beams.front().front(), first);
  EXPECT_EQ(error_message<InvalidArgument>(
                [&] { static_cast<void>(transcriber().generate(read, {}, {.never_first = {11}})); }),
            "generate: never_first: expected a token from 0 to 10, got 11");
}

}  // namespace
}  // namespace qkv::transcriber_test
