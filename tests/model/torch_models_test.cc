// Models of text and PyTorch's on the same numbers (fixtures/make_torch_models.py made them).
#include <gmock/gmock.h>

#include <map>

#include "model/torch_case.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/encoder_decoder.h"

namespace qkv::torch_models_test {
namespace {

using nlohmann::json;

struct Text {
  Tensor ids;
  std::vector<std::int64_t> lengths;

  explicit Text(const json& text) : ids(tests::ids_in(text.at("ids"))), lengths(text.at("lengths")) {}
  [[nodiscard]] PaddedTokens tokens() const { return {.ids = ids, .lengths = lengths}; }
};

template <class Model, class Scores>
tests::TorchModel ready(const json& one, const Model& model, const Scores& scores) {
  const Tensor targets = tests::ids_in(one.at("targets"));
  const double smoothing = one.at("smoothing");
  return {.parameters = model.parameters(), .loss = [=] {
            return cross_entropy(scores(model), targets, {.ignored = -100, .label_smoothing = smoothing});
          }};
}

tests::TorchModel made(const json& one, DType dtype) {
  const auto config = tests::config_in(one);
  const ModelCall call{.dtype = dtype};
  const Text tokens(one.at("tokens"));
  Generator generator(1);
  if (config.at("kind") == "decoder") {
    return ready(one, Decoder(decoder_options(config), generator, dtype),
                 [=](const Decoder& model) { return model.forward(tokens.ids, call); });
  }
  if (config.at("kind") == "encoder") {
    return ready(one, Encoder(encoder_options(config), generator, dtype),
                 [=](const Encoder& model) { return model.forward(tokens.tokens(), call); });
  }
  const Text source(one.at("source"));
  return ready(one, EncoderDecoder(encoder_decoder_options(config), generator, dtype),
               [=](const EncoderDecoder& model) { return model.forward(source.tokens(), tokens.ids, call); });
}

TEST(TorchModels, CoverEachKindAndEveryKindOfPositions) {
  std::map<std::string, int> kinds;
  std::map<std::string, int> positions;
  for (const json& one : tests::torch_cases("torch_models.json")) {
    const auto config = tests::config_in(one);
    ++kinds[config.at("kind")];
    if (config.at("kind") == "decoder") ++positions[config.at("positions")];
  }
  EXPECT_THAT(kinds, testing::UnorderedElementsAre(testing::Pair("decoder", 6), testing::Pair("encoder", 3),
                                                   testing::Pair("encoder-decoder", 3)));
  EXPECT_EQ(positions.size(), 6U);
}

TEST(TorchModels, LossesGradientsAndTenStepsAgree) {
  for (const json& one : tests::torch_cases("torch_models.json")) {
    tests::expect_as_torch(one, made(one, DType::f64));
  }
}

TEST(TorchModels, GradientsInF32AreAsNearAsPyTorchs) {
  for (const json& one : tests::torch_cases("torch_models.json")) {
    tests::expect_as_near_as_torch(one, [&](DType dtype) { return made(one, dtype); });
  }
}

}  // namespace
}  // namespace qkv::torch_models_test
