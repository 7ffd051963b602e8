#include "qkv/model/encoder.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "core/error_message.h"
#include "qkv/autograd/softmax.h"
#include "qkv/cost.h"

namespace qkv::encoder_test {
namespace {

constexpr std::array<Positions, 6> kAll = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                           Positions::rotary, Positions::alibi,      Positions::t5};

EncoderOptions small(Positions positions, NormOrder order = NormOrder::pre) {
  return {
      .vocabulary = 11, .length = 7, .layers = 2, .d_model = 16, .heads = 2, .positions = positions, .order = order};
}

// What single families have: windows and a missing norm, one block for all layers, narrow tables, two kinds of
// positions, scores of distances, sines in another order, heads without biases.
std::vector<EncoderOptions> relatives() {
  EncoderOptions modern = small(Positions::rotary);
  modern.embedding = EmbeddingScale::normed;
  modern.head = EncoderHead::transform;
  modern.head_map_bias = false;
  modern.head_bias = false;
  modern.choices.norm = NormKind::layer_without_bias;
  modern.choices.windows = {0, 2};
  modern.choices.local_rotary_base = 100;
  modern.choices.first_norm = false;
  EncoderOptions narrow = small(Positions::learned, NormOrder::post);
  narrow.head = EncoderHead::transform;
  narrow.d_embedding = 6;
  narrow.choices.one_block = true;
  narrow.types = 2;
  EncoderOptions bucketed = small(Positions::learned, NormOrder::post);
  bucketed.choices.t5_beside = true;
  EncoderOptions distances = small(Positions::none, NormOrder::post);
  distances.relative = {.span = 4, .buckets = 4, .longest = 8, .has_maps = true};
  distances.relative_norm = true;
  EncoderOptions halves = small(Positions::sinusoidal);
  halves.choices.sines_in_halves = true;
  return {modern, narrow, bucketed, distances, halves};
}

Tensor some_ids(std::uint64_t seed = 1) { return Generator(seed).randint(0, 11, {3, 7}); }

std::vector<double> place(const Variable& x, std::int64_t b, std::int64_t t) {
  return x.value().select(0, b).select(0, t).to_vector();
}

TEST(Encoder, HasAsManyNumbersAsTheArithmeticSays) {
  for (const Positions positions : kAll) {
    for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
      EncoderOptions options = small(positions, order);
      options.tied = order == NormOrder::pre;
      options.bias = positions != Positions::alibi;
      options.d_ff = 24;
      Generator generator(1);
      EXPECT_EQ(parameter_count(Encoder(options, generator).parameters()), parameter_count(options))
          << name_of(positions);
    }
  }
  for (EncoderOptions options : relatives()) {
    for (const bool is_tied : {true, false}) {
      options.tied = is_tied;
      EXPECT_EQ(parameter_count(Encoder(options, Init::undrawn()).parameters()), parameter_count(options));
      EXPECT_EQ(config_of(encoder_options(config_of(options))), config_of(options));
    }
  }
  EXPECT_EQ(parameter_count(EncoderOptions{.vocabulary = 11, .d_model = 64, .heads = 1}),
            parameter_count(EncoderOptions{.vocabulary = 11, .d_model = 64, .heads = 8}));
}

TEST(Encoder, HasTheNumbersOfBertWithoutItsTypesAndPooler) {
  const std::int64_t d = 768;
  const std::int64_t here = parameter_count(EncoderOptions{.vocabulary = 30522,
                                                           .length = 512,
                                                           .layers = 12,
                                                           .d_model = d,
                                                           .heads = 12,
                                                           .positions = Positions::learned,
                                                           .order = NormOrder::post});
  CostConfig bert = cost_preset("bert-base");
  bert.token_types = 0;
  bert.pooler = false;
  EXPECT_EQ(std::to_string(here), cost(bert).item("weights.total").value.to_string());
  EXPECT_EQ(here + 2 * d + (d * d + d), 109482240);  // the count of the released model
}

TEST(Encoder, SeesEveryTokenAndNoPadding) {
  for (const Positions positions : kAll) {
    for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
      Generator generator(1);
      const Encoder encoder(small(positions, order), generator);
      Tensor ids = some_ids();
      const Variable before = encoder.forward({.ids = ids, .lengths = {7, 5, 6}});
      for (const std::int64_t b : {0, 1}) ids.set({b, 6}, (static_cast<int>(ids.at({b, 6})) + 1) % 11);
      const Variable after = encoder.forward({.ids = ids, .lengths = {7, 5, 6}});
      for (std::int64_t t = 0; t < 5; ++t) {
        EXPECT_NE(place(before, 0, t), place(after, 0, t)) << name_of(positions) << " at " << t;
        EXPECT_EQ(place(before, 1, t), place(after, 1, t)) << name_of(positions) << " at " << t;
      }
    }
  }
}

TEST(Encoder, GivesATextTheSameNumbersAloneAndPadded) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const Encoder encoder(small(positions), generator);
    const Tensor ids = some_ids();
    const Tensor alone(ids.view().slice(0, 1, 2).slice(1, 0, 5));
    const Variable padded = encoder.hidden({.ids = ids, .lengths = {7, 5, 6}});
    const Variable single = encoder.hidden({.ids = alone});
    EXPECT_EQ(padded.shape().to_string(), "[3, 7, 16]");
    for (std::int64_t t = 0; t < 5; ++t) {
      // Other lengths may sum in another order.
      EXPECT_THAT(place(single, 0, t), testing::Pointwise(testing::DoubleNear(2e-5), place(padded, 1, t)))
          << name_of(positions) << " at " << t;
    }
  }
}

// In f64, where rows do not depend on how many there are.
TEST(Encoder, GivesATextTheSameNumbersAloneAndEndToEnd) {
  const NoGradient constant;
  const Tensor ids = some_ids();
  const std::vector<std::int64_t> lengths = {2, 7, 1, 4};
  std::vector<EncoderOptions> all_options = relatives();
  for (const Positions positions : kAll) all_options.push_back(small(positions));
  for (EncoderOptions options : all_options) {
    for (const SelfAttention self_attention : {SelfAttention::full, SelfAttention::causal}) {
      SCOPED_TRACE(std::string(name_of(options.positions)) + ", " + std::string(name_of(self_attention)));
      options.self_attention = self_attention;
      options.types = 2;
      Generator generator(4);
      const Encoder encoder(options, generator, DType::f64);
      const Tensor all(ids.view().reshape({1, 21}).slice(1, 0, 14));
      const Tensor types = Generator(5).randint(0, 2, {1, 14});
      const Variable joined = encoder.hidden_joined({.ids = all, .lengths = lengths, .types = types});
      ASSERT_EQ(joined.shape(), (Shape{1, 14, 16}));
      std::int64_t begin = 0;
      for (const std::int64_t length : lengths) {
        const Tensor own(all.view().slice(1, begin, begin + length));
        const Tensor own_types(types.view().slice(1, begin, begin + length));
        const Variable alone = encoder.hidden({.ids = own, .types = own_types});
        for (std::int64_t t = 0; t < length; ++t) {
          EXPECT_THAT(place(joined, 0, begin + t), testing::Pointwise(testing::DoubleNear(1e-14), place(alone, 0, t)));
        }
        begin += length;
      }
    }
  }
}

TEST(Encoder, SeesNoLaterTokenIfItIsCausal) {
  for (const Positions positions : kAll) {
    EncoderOptions options = small(positions);
    options.self_attention = SelfAttention::causal;
    EXPECT_EQ(config_of(encoder_options(config_of(options))), config_of(options));
    Generator generator(1);
    const Encoder encoder(options, generator);
    Tensor ids = some_ids();
    const Tensor before(encoder.hidden({.ids = ids}).value());
    ids.set({0, 3}, (static_cast<int>(ids.at({0, 3})) + 1) % 11);
    const Tensor after(encoder.hidden({.ids = ids}).value());
    for (std::int64_t t = 0; t < ids.dim(1); ++t) {
      const auto of = [&](const Tensor& hidden) { return hidden.view().select(0, 0).select(0, t).to_vector(); };
      EXPECT_EQ(of(before) == of(after), t < 3) << name_of(positions) << " at " << t;
    }
  }
}

TEST(Encoder, TellsLeftFromRightWherePositionsDo) {
  // The middle of a b c and of c b a: ALiBi, which counts distances, sees no difference in one layer.
  for (const Positions positions : kAll) {
    EncoderOptions options = small(positions);
    options.layers = 1;
    Generator generator(1);
    const Encoder encoder(options, generator);
    for (const Parameter& parameter : encoder.parameters()) {
      if (parameter.name == "t5.weight") parameter.value.mutable_value().set({1, 0}, 2.0);
    }
    const Tensor ids(std::vector<std::int64_t>{1, 2, 3, 3, 2, 1}, {2, 3});
    const Variable out = encoder.forward({.ids = ids});
    double most = 0;
    for (std::int64_t c = 0; c < 11; ++c) {
      most = std::max(most, std::fabs(out.value().at({0, 1, c}) - out.value().at({1, 1, c})));
    }
    if (positions == Positions::none || positions == Positions::alibi) {
      EXPECT_LT(most, 1e-6) << name_of(positions);
    } else {
      EXPECT_GT(most, 1e-5) << name_of(positions);
    }
  }
}

TEST(Encoder, GivesAGradientToEachParameter) {
  for (const Positions positions : kAll) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      EncoderOptions options = small(positions, dtype == DType::f32 ? NormOrder::pre : NormOrder::post);
      options.tied = dtype == DType::f32;
      Generator generator(1);
      const Encoder encoder(options, generator);
      const Variable scores = encoder.forward({.ids = some_ids(), .lengths = {7, 5, 6}},
                                              {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}});
      const Variable loss = cross_entropy(scores, some_ids(2));
      EXPECT_NEAR(loss.item(), std::log(11), 1.0);
      backward(loss);
      for (const Parameter& parameter : encoder.parameters()) {
        EXPECT_EQ(parameter.value.dtype(), DType::f32);
        EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
      }
    }
  }
}

TEST(Encoder, GivesAGradientToEachParameterOfARelative) {
  for (const EncoderOptions& options : relatives()) {
    Generator generator(1);
    const Encoder encoder(options, generator);
    backward(cross_entropy(encoder.forward({.ids = some_ids(), .lengths = {7, 5, 6}}), some_ids(2)));
    for (const Parameter& parameter : encoder.parameters()) {
      EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
    }
  }
}

TEST(Encoder, SeesTheWindowOfALayerAlone) {
  EncoderOptions options = relatives().front();
  options.choices.windows = {2, 2};
  Generator generator(1);
  const Encoder encoder(options, generator, DType::f64);
  const std::vector<Tensor> weights = encoder.weights({.ids = some_ids()});
  for (const Tensor& layer : weights) {
    for (std::int64_t i = 0; i < 7; ++i) {
      for (std::int64_t j = 0; j < 7; ++j) {
        EXPECT_EQ(layer.at({0, 1, i, j}) > 0, std::abs(i - j) < 2) << i << ", " << j;
      }
    }
  }
}

// Columns 0, 2, 4, … of sinusoidal(), then 1, 3, 5, …, as they are.
TEST(Encoder, PutsAllSinesBeforeAllCosines) {
  EncoderOptions options = relatives().back();
  Generator generator(1);
  const Encoder encoder(options, generator, DType::f64);
  Trace trace({"positions"});
  static_cast<void>(encoder.hidden({.ids = some_ids()}, {.trace = &trace}));
  const Tensor side_by_side = sinusoidal(7, 16);
  const Tensor found = trace["positions"];
  for (std::int64_t t = 0; t < 7; ++t) {
    for (std::int64_t c = 0; c < 16; ++c) {
      EXPECT_EQ(found.at({t, c}), side_by_side.at({t, c < 8 ? 2 * c : 2 * (c - 8) + 1})) << t << ", " << c;
    }
  }
}

TEST(Encoder, WeightsAreThoseOfEachHeadAndLayer) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const Encoder encoder(small(positions), generator, DType::f64);
    const std::vector<Tensor> weights = encoder.weights({.ids = some_ids(), .lengths = {7, 5, 6}});
    ASSERT_EQ(weights.size(), 2U);
    EXPECT_EQ(weights[0].shape().to_string(), "[3, 2, 7, 7]");
    double sum = 0;
    for (std::int64_t j = 0; j < 5; ++j) sum += weights[1].at({1, 1, 2, j});
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(weights[1].at({1, 1, 2, 5}), 0);
    EXPECT_GT(weights[1].at({1, 1, 2, 4}), 0);
  }
}

TEST(Encoder, FactsGiveTheOptionsBack) {
  for (const Positions positions : kAll) {
    EncoderOptions options = small(positions, NormOrder::post);
    options.activation = Activation::relu;
    options.bias = false;
    const auto config = config_of(options);
    EXPECT_EQ(config_of(encoder_options(config)), config);
    EXPECT_EQ(config.at("embedding"), "normed");
  }
  auto config = config_of(small(Positions::none));
  config["order"] = "between";
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder_options(config)); }),
            "encoder_options: order: expected one of pre, post, both, after, parallel, parallel_one, got \"between\"");
  config["bias"] = "some";
  config["order"] = "pre";
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder_options(config)); }),
            "encoder_options: bias: expected yes or no, got \"some\"");
  config["kind"] = "decoder";
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder_options(config)); }),
            "encoder_options: kind: expected encoder, got \"decoder\"");
}

// Texts side by side, end to end and alone; the third text begins with the token that takes no place.
TEST(Encoder, GivesNoPlaceToPaddingWithinATextHoweverItStands) {
  EncoderOptions options = small(Positions::learned);
  options.placeless = 1;
  Generator generator(4);
  const Encoder encoder(options, generator, DType::f64);
  EXPECT_EQ(parameter_count(encoder.parameters()), parameter_count(options));
  const Tensor ids(std::vector<std::int64_t>{3, 1, 4, 2, 6, 2, 1, 5, 2}, {1, 9});
  const std::vector<std::int64_t> lengths = {4, 2, 3};
  const Variable joined = encoder.hidden_joined({.ids = ids, .lengths = lengths});
  const Tensor beside(std::vector<std::int64_t>{3, 1, 4, 2, 6, 2, 0, 0, 1, 5, 2, 1}, {3, 4});
  const Variable padded = encoder.hidden({.ids = beside, .lengths = lengths});
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    const Tensor own(ids.view().slice(1, begin, begin + lengths[n]));
    const Variable alone = encoder.hidden({.ids = own});
    for (std::int64_t t = 0; t < lengths[n]; ++t) {
      const auto same = testing::Pointwise(testing::DoubleNear(1e-14), place(alone, 0, t));
      EXPECT_THAT(place(joined, 0, begin + t), same);
      EXPECT_THAT(place(padded, static_cast<std::int64_t>(n), t), same);
    }
    begin += lengths[n];
  }
  const Tensor most(std::vector<std::int64_t>{3, 1, 4, 2, 1, 6, 2, 5, 3}, {1, 9});
  EXPECT_EQ(encoder.hidden({.ids = most}).dim(1), 9);
  const Tensor more(std::vector<std::int64_t>{3, 1, 4, 2, 6, 2, 5, 3, 3}, {1, 9});
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.hidden({.ids = more})); }),
            "Encoder: ids: expected a text of at most 7 tokens, for which there are learned positions, got 8 tokens");
}

TEST(Encoder, RefusesTextsEndToEndThatDoNotFit) {
  Generator generator(1);
  const Encoder encoder(small(Positions::learned), generator);
  const Tensor ids(DType::i64, {1, 9});
  const auto message = [&](const std::vector<std::int64_t>& lengths) {
    return error_message([&] { static_cast<void>(encoder.hidden_joined({.ids = ids, .lengths = lengths})); });
  };
  EXPECT_EQ(message({4, 4}), "Encoder: ids: expected [1, 8], the tokens of lengths, got [1, 9]");
  EXPECT_EQ(message({1, 8}),
            "Encoder: ids: expected a text of at most 7 tokens, for which there are learned positions, got 8 tokens");
  EXPECT_EQ(message({9, 0}), "Encoder: lengths: expected one token or more of each text, got 0");
}

TEST(Encoder, RefusesWhatHasNoMeaning) {
  const auto message = [](const EncoderOptions& options) {
    return error_message([&] {
      Generator generator(1);
      Encoder encoder(options, generator);
    });
  };
  EXPECT_EQ(message({.vocabulary = 0}), "Encoder: vocabulary: expected more than 0, got 0");
  EXPECT_EQ(
      message({.vocabulary = 9, .d_model = 64, .heads = 6}),
      "Encoder: heads: expected a divisor of `d_model`, 64, since each head has `d_model` / `heads` of it, got 6");
  EXPECT_EQ(message({.vocabulary = 9, .positions = Positions::learned}),
            "Encoder: length: expected more than 0, for learned positions, got 0");

  EncoderOptions narrow = relatives()[1];
  narrow.head = EncoderHead::product;
  EXPECT_EQ(message(narrow), "Encoder: head: expected transform or none with a d_embedding, got product");
  narrow.d_embedding = 0;
  EXPECT_EQ(message(narrow), "Encoder: d_embedding: expected more than 0, got 0");
  EncoderOptions one = relatives()[1];
  one.choices.windows = {0, 2};
  EXPECT_EQ(message(one),
            "Encoder: one_block: expected layers without windows, unturned ones or a missing norm of their own, got 1");
  EncoderOptions twice = small(Positions::t5);
  twice.choices.t5_beside = true;
  EXPECT_EQ(message(twice), "Encoder: t5_beside: expected positions of another kind, since t5 has its buckets, got 1");

  Generator generator(1);
  const Encoder encoder(small(Positions::learned), generator);
  const auto said = [&](const Tensor& ids, const std::vector<std::int64_t>& lengths) {
    return error_message([&] { static_cast<void>(encoder.forward({.ids = ids, .lengths = lengths})); });
  };
  EXPECT_EQ(said(Tensor(DType::i64, {1, 8}), {}),
            "Encoder: ids: expected a text of at most 7 tokens, for which there are learned positions, got 8 tokens");
  EXPECT_EQ(said(Tensor(DType::i64, {8}), {}), "Encoder: ids: expected [B, T], got [8]");
  EXPECT_EQ(said(some_ids(), {7}), "Encoder: lengths: expected one for each of 3 texts, got 1");
  EXPECT_EQ(said(some_ids(), {7, 8, 7}), "Encoder: lengths: expected from 0 to 7, the tokens of a row, got 8");
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.weights({.ids = Tensor(DType::i64, {8})})); }),
            "Encoder: ids: expected [B, T], got [8]");
}

}  // namespace
}  // namespace qkv::encoder_test
