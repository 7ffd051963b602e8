#include "qkv/model/encoder_decoder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/error_message.h"
#include "qkv/autograd/softmax.h"
#include "qkv/cost.h"
#include "qkv/train/optimizer.h"

namespace qkv::encoder_decoder_test {
namespace {

constexpr std::array<Positions, 6> kAll = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                           Positions::rotary, Positions::alibi,      Positions::t5};

EncoderDecoderOptions small(Positions positions, NormOrder order = NormOrder::post) {
  return {.source_vocabulary = 9,
          .vocabulary = 11,
          .source_length = 5,
          .length = 7,
          .encoder_layers = 1,
          .layers = 2,
          .d_model = 16,
          .heads = 2,
          .positions = positions,
          .order = order};
}

Tensor some_source() { return Generator(2).randint(0, 9, {3, 5}); }
Tensor some_target(std::uint64_t seed = 1) { return Generator(seed).randint(0, 11, {3, 7}); }

TEST(EncoderDecoder, HasAsManyNumbersAsTheArithmeticSays) {
  for (const Positions positions : kAll) {
    for (const bool shared : {false, true}) {
      EncoderDecoderOptions options = small(positions, shared ? NormOrder::pre : NormOrder::post);
      options.shared = shared;
      options.tied = positions != Positions::alibi;
      options.bias = positions != Positions::none;
      if (shared) options.source_vocabulary = options.vocabulary;
      Generator generator(1);
      const EncoderDecoder model(options, generator);
      EXPECT_EQ(parameter_count(model.parameters()), parameter_count(options)) << name_of(positions);
      std::set<std::string> names;
      for (const Parameter& parameter : model.parameters()) names.insert(parameter.name);
      EXPECT_EQ(names.size(), model.parameters().size());
      EXPECT_EQ(names.contains("decoder.embedding.weight"), !shared);
      EXPECT_NO_THROW(static_cast<void>(make_adamw(model.parameters())));
    }
  }
  EncoderDecoderOptions one = small(Positions::sinusoidal);
  one.heads = 1;
  EXPECT_EQ(parameter_count(one), parameter_count(small(Positions::sinusoidal)));
}

TEST(EncoderDecoder, HasTheNumbersOfTheTransformerBase) {
  const EncoderDecoderOptions base{.source_vocabulary = 37000,
                                   .vocabulary = 37000,
                                   .encoder_layers = 6,
                                   .layers = 6,
                                   .d_model = 512,
                                   .heads = 8,
                                   .bias = false,
                                   .shared = true};
  EXPECT_EQ(std::to_string(parameter_count(base)),
            cost(cost_preset("transformer-base")).item("weights.total").value.to_string());
}

TEST(EncoderDecoder, SeesTheSourceAndNoTokenThatIsStillToCome) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const EncoderDecoder model(small(positions), generator);
    Tensor source = some_source();
    Tensor target = some_target();
    const auto scores = [&] { return Tensor(model.forward({.ids = source, .lengths = {5, 3, 4}}, target).value()); };
    const Tensor before = scores();
    target.set({0, 5}, (static_cast<int>(target.at({0, 5})) + 1) % 11);
    for (const std::int64_t b : {1, 2}) source.set({b, 3}, (static_cast<int>(source.at({b, 3})) + 1) % 9);
    const Tensor after = scores();
    for (std::int64_t t = 0; t < 7; ++t) {
      const auto same = [&](std::int64_t b) {
        return before.view().select(0, b).select(0, t).to_vector() ==
               after.view().select(0, b).select(0, t).to_vector();
      };
      EXPECT_EQ(same(0), t < 5) << name_of(positions) << " at " << t;
      EXPECT_TRUE(same(1)) << "padding of the source, " << name_of(positions) << " at " << t;
      EXPECT_FALSE(same(2)) << name_of(positions) << " at " << t;
    }
  }
}

TEST(EncoderDecoder, GivesAGradientToEachParameter) {
  for (const Positions positions : kAll) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      EncoderDecoderOptions options = small(positions, dtype == DType::f32 ? NormOrder::pre : NormOrder::post);
      options.tied = dtype == DType::f32;
      Generator generator(1);
      const EncoderDecoder model(options, generator);
      const Variable scores = model.forward({.ids = some_source(), .lengths = {5, 3, 4}}, some_target(),
                                            {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}});
      const Variable loss = cross_entropy(scores, some_target(2));
      EXPECT_NEAR(loss.item(), std::log(11), 1.5);
      backward(loss);
      for (const Parameter& parameter : model.parameters()) {
        EXPECT_EQ(parameter.value.dtype(), DType::f32);
        EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
      }
    }
  }
}

TEST(EncoderDecoder, GivesTheSameGradientsWhereBlocksAreComputedAgain) {
  Generator generator(1);
  const EncoderDecoder model(small(Positions::t5), generator);
  const auto gradients = [&](BlockMemory memory) {
    clear_gradients(model.parameters());
    const Variable scores = model.forward({.ids = some_source(), .lengths = {5, 3, 4}}, some_target(),
                                          {.dropout = Dropout{.p = 0.1, .seed = 3}, .memory = memory});
    backward(cross_entropy(scores, some_target(2)));
    std::vector<std::vector<double>> all;
    for (const Parameter& parameter : model.parameters()) all.push_back(parameter.value.gradient().to_vector());
    return all;
  };
  EXPECT_EQ(gradients(BlockMemory::keep), gradients(BlockMemory::recompute));
}

TEST(EncoderDecoder, WeightsAreThoseOfEachSiteHeadAndLayer) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const EncoderDecoder model(small(positions), generator, DType::f64);
    const EncoderDecoderWeights weights = model.weights({.ids = some_source(), .lengths = {5, 3, 4}}, some_target());
    ASSERT_EQ(weights.source.size(), 1U);
    ASSERT_EQ(weights.tokens.size(), 2U);
    ASSERT_EQ(weights.cross.size(), 2U);
    EXPECT_EQ(weights.source[0].shape().to_string(), "[3, 2, 5, 5]");
    EXPECT_EQ(weights.tokens[0].shape().to_string(), "[3, 2, 7, 7]");
    EXPECT_EQ(weights.cross[0].shape().to_string(), "[3, 2, 7, 5]");
    EXPECT_EQ(weights.source[0].at({1, 0, 1, 3}), 0);
    EXPECT_EQ(weights.tokens[1].at({1, 1, 4, 5}), 0);
    double sum = 0;
    for (std::int64_t j = 0; j < 3; ++j) sum += weights.cross[1].at({1, 1, 0, j});
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(weights.cross[1].at({1, 1, 0, 3}), 0);
  }
}

// The token that the scores of the whole text put first at its place; generate() reads them over a cache.
class Generates : public testing::TestWithParam<Positions> {};

TEST_P(Generates, WhatTheScoresOfTheWholeTextSay) {
  Generator generator(7);
  const EncoderDecoder model(small(GetParam()), generator);
  const Tensor source = some_source();
  const Tensor begin(std::vector<std::int64_t>{1, 1, 1}, {3, 1});
  const auto texts = model.generate({.ids = source, .lengths = {5, 3, 4}}, begin, {.ends = {10}, .most = 6});
  ASSERT_EQ(texts.size(), 3U);
  // If no token ends a text, every text is as long as it may be.
  const auto longest = model.generate({.ids = source, .lengths = {5, 3, 4}}, begin, {.most = 6});
  EXPECT_THAT(longest, testing::Each(testing::SizeIs(6)));
  for (std::int64_t b = 0; b < 3; ++b) {
    std::vector<std::int64_t> text = {1};
    for (const std::int64_t token : longest[static_cast<std::size_t>(b)]) text.push_back(token);
    const auto end = std::find(text.begin(), text.end(), 10);
    EXPECT_THAT(texts[static_cast<std::size_t>(b)], testing::ElementsAreArray(text.begin() + 1, end));
    const Tensor ids(text, {1, static_cast<std::int64_t>(text.size())});
    const Tensor own(source.view().slice(0, b, b + 1));
    const Tensor scores(
        model.forward({.ids = own, .lengths = {std::array{5, 3, 4}[static_cast<std::size_t>(b)]}}, ids).value());
    for (std::int64_t t = 0; t + 1 < ids.dim(1); ++t) {
      const std::vector<double> row = scores.view().select(0, 0).select(0, t).to_vector();
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), text[static_cast<std::size_t>(t) + 1]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EncoderDecoder, Generates, testing::ValuesIn(kAll),
                         [](const auto& made) { return std::string(name_of(made.param)); });

TEST(EncoderDecoder, FactsGiveTheOptionsBack) {
  for (const Positions positions : kAll) {
    EncoderDecoderOptions options = small(positions, NormOrder::pre);
    options.activation = Activation::gelu;
    options.bias = false;
    options.tied = positions == Positions::none;
    EXPECT_EQ(config_of(encoder_decoder_options(config_of(options))), config_of(options));
  }
  EncoderDecoderOptions t5 = small(Positions::t5, NormOrder::pre);
  t5.output_scale = 0.25;
  t5.start = 3;
  t5.choices = {.norm = NormKind::rms, .d_k = 6, .scale = 1, .t5_buckets = 8, .t5_max_distance = 9};
  EXPECT_EQ(encoder_decoder_options(config_of(t5)).choices, t5.choices);
  EXPECT_EQ(config_of(encoder_decoder_options(config_of(t5))), config_of(t5));
  auto config = config_of(small(Positions::none));
  config["shared"] = "half";
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder_decoder_options(config)); }),
            "encoder_decoder_options: shared: expected yes or no, got \"half\"");
  config.erase("source_length");
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder_decoder_options(config)); }),
            "encoder_decoder_options: source_length: expected a value, got none");
}

TEST(EncoderDecoder, ScalesTheStatesThatItsOutputMapReads) {
  EncoderDecoderOptions options = small(Positions::t5, NormOrder::pre);
  const auto scores = [&] {
    Generator generator(1);
    const EncoderDecoder model(options, generator, DType::f64);
    return Tensor(model.forward({.ids = some_source()}, some_target()).value()).to_vector();
  };
  std::vector<double> scaled = scores();
  for (double& score : scaled) score *= 0.25;
  options.output_scale = 0.25;
  EXPECT_EQ(scores(), scaled);
}

TEST(EncoderDecoder, WritesFromItsStart) {
  EncoderDecoderOptions options = small(Positions::sinusoidal);
  Generator generator(1);
  const Tensor ids = some_source();
  const PaddedTokens source{.ids = ids};
  EXPECT_EQ(
      error_message([&] { static_cast<void>(EncoderDecoder(options, generator).generate(source, {}, {.most = 3})); }),
      "EncoderDecoder: prompt: expected one, where there is no token to start, got none");
  options.start = 4;
  const EncoderDecoder model(options, generator);
  const Tensor prompt(std::vector<std::int64_t>{4, 4, 4}, {3, 1});
  EXPECT_EQ(model.generate(source, {}, {.most = 5}), model.generate(source, prompt, {.most = 5}));
}

TEST(EncoderDecoder, HasAsManyBucketsAsItIsTold) {
  EncoderDecoderOptions options = small(Positions::t5, NormOrder::pre);
  options.choices.t5_buckets = 6;
  options.choices.t5_max_distance = 4;
  Generator generator(1);
  const EncoderDecoder model(options, generator);
  EXPECT_EQ(parameter_count(model.parameters()), parameter_count(options));
  for (const Parameter& parameter : model.parameters()) {
    if (!parameter.name.ends_with("t5.weight")) continue;
    EXPECT_EQ(parameter.value.shape().to_string(), "[6, 2]");
    // Steps of 4 and more back share the last bucket of their side, 5 of one side and 2 of both.
    parameter.value.mutable_value().set({parameter.name.starts_with("decoder") ? 5 : 2, 0}, -1e4);
  }
  const EncoderDecoderWeights weights = model.weights({.ids = some_source()}, some_target());
  for (const Tensor& of : {weights.source[0], weights.tokens[0]}) {
    EXPECT_EQ(of.at({0, 0, 4, 0}), 0);
    EXPECT_GT(of.at({0, 0, 4, 4}), 0);
    EXPECT_GT(of.at({0, 0, 4, 3}), 0);
  }
}

TEST(EncoderDecoder, RefusesWhatHasNoMeaning) {
  const auto message = [](auto change) {
    EncoderDecoderOptions options = small(Positions::learned);
    change(options);
    return error_message([&] {
      Generator generator(1);
      EncoderDecoder model(options, generator);
    });
  };
  EXPECT_EQ(message([](auto& o) { o.source_vocabulary = 0; }),
            "EncoderDecoder: source_vocabulary: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.start = 11; }), "EncoderDecoder: start: expected a token from 0 to 10, got 11");
  EXPECT_EQ(message([](auto& o) {
              o.positions = Positions::t5;
              o.choices.t5_buckets = 7;
            }),
            "EncoderDecoder: t5_buckets: expected an even number, 4 or more, got 7");
  EXPECT_EQ(message([](auto& o) {
              o.positions = Positions::t5;
              o.choices.t5_max_distance = 16;
            }),
            "EncoderDecoder: t5_max_distance: expected more than half of t5_buckets, 32, got 16");
  EXPECT_EQ(message([](auto& o) { o.vocabulary = 0; }), "EncoderDecoder: vocabulary: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.encoder_layers = 0; }),
            "EncoderDecoder: encoder_layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.layers = 0; }), "EncoderDecoder: layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.source_length = 0; }),
            "EncoderDecoder: source_length: expected more than 0, for learned positions, got 0");
  EXPECT_EQ(message([](auto& o) { o.length = 0; }),
            "EncoderDecoder: length: expected more than 0, for learned positions, got 0");
  EXPECT_EQ(message([](auto& o) { o.heads = 3; }),
            "EncoderDecoder: heads: expected a divisor of `d_model`, 16, since each head has `d_model` / `heads` of "
            "it, got 3");
  EXPECT_EQ(
      message([](auto& o) { o.shared = true; }),
      "EncoderDecoder: source_vocabulary: expected 11, the vocabulary of the target, whose table it shares, got 9");

  Generator generator(1);
  const EncoderDecoder model(small(Positions::learned), generator);
  const auto said = [&](const PaddedTokens& source, const Tensor& target) {
    return error_message([&] { static_cast<void>(model.forward(source, target)); });
  };
  const Tensor source = some_source();
  const Tensor two(source.view().slice(0, 0, 2));
  const Tensor wide(DType::i64, {3, 8});
  EXPECT_EQ(said({.ids = wide}, some_target()),
            "Encoder: ids: expected a text of at most 5 tokens, for which there are learned positions, got 8 tokens");
  EXPECT_EQ(said({.ids = source}, wide),
            "Decoder: ids: expected a text of at most 7 tokens, for which there are learned positions, got 8 tokens");
  EXPECT_EQ(said({.ids = source, .lengths = {5, 5, 6}}, some_target()),
            "Encoder: lengths: expected from 0 to 5, the tokens of a row, got 6");
  EXPECT_EQ(said({.ids = two}, some_target()),
            "Decoder: context: expected [B, Tk, 16] with the B of ids, got [2, 5, 16]");
}

}  // namespace
}  // namespace qkv::encoder_decoder_test
