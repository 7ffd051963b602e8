// What decoders of published families do otherwise.
#include <gmock/gmock.h>

#include <cmath>

#include "qkv/autograd/rotary.h"
#include "qkv/model/decoder.h"

namespace qkv::decoder_choices_test {
namespace {

DecoderOptions small(Positions positions) {
  return {.vocabulary = 11, .length = 7, .layers = 2, .d_model = 16, .heads = 2, .positions = positions};
}

Tensor some_ids() { return Generator(1).randint(0, 11, {3, 7}); }

TEST(Decoder, CapsItsScores) {
  DecoderOptions options = small(Positions::rotary);
  const auto scores = [&] {
    Generator generator(1);
    return Tensor(Decoder(options, generator, DType::f64).forward(some_ids()).value()).to_vector();
  };
  const std::vector<double> before = scores();
  std::vector<double> capped = before;
  for (double& score : capped) score = 0.05 * std::tanh(score / 0.05);
  options.logit_softcap = 0.05;
  EXPECT_THAT(scores(), testing::Pointwise(testing::DoubleNear(1e-15), capped));
  EXPECT_NE(before, capped);
}

TEST(Decoder, ScalesItsEmbeddingsByTheRootInTheDtypeOfTheTable) {
  DecoderOptions options = small(Positions::none);
  options.d_model = 18;
  options.embedding = EmbeddingScale::root_width;
  Generator generator(1);
  const Decoder decoder(options, generator, DType::bf16);
  Trace trace({"embedding", "blocks.0.resid_pre"});
  static_cast<void>(decoder.forward(some_ids(), {.trace = &trace}));
  std::vector<double> scaled = trace["embedding"].to_vector();
  for (double& value : scaled) value *= 4.25;  // bf16 has 4.25 and 4.21875, or 4.28125; the root of 18 is 4.2426
  EXPECT_EQ(trace["blocks.0.resid_pre"].to_vector(), scaled);
}

TEST(Decoder, TurnsLocalLayersByABaseOfTheirOwn) {
  DecoderOptions options = small(Positions::rotary);
  options.choices.rotary_scaling = LinearScaling{.factor = 2};
  options.choices.local_rotary_base = 100;
  options.choices.windows = {4, 0};
  Generator generator(1);
  const Decoder decoder(options, generator);
  Trace trace({"blocks.*.attn.q", "blocks.*.attn.q_rotated"});
  static_cast<void>(decoder.forward(some_ids(), {.trace = &trace}));
  const auto turned = [&](const std::string& layer, const RotaryOptions& by) {
    const Variable q(trace["blocks." + layer + ".attn.q"]);
    return Tensor(rotary(q, rotary_tables(by, 7, DType::f32)).value()).to_vector();
  };
  EXPECT_EQ(trace["blocks.0.attn.q_rotated"].to_vector(), turned("0", {.dim = 8, .base = 100}));
  EXPECT_EQ(trace["blocks.1.attn.q_rotated"].to_vector(),
            turned("1", {.dim = 8, .scaling = LinearScaling{.factor = 2}}));
}

}  // namespace
}  // namespace qkv::decoder_choices_test
