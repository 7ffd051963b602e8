#include "qkv/model/decoder.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "qkv/autograd/softmax.h"

namespace qkv::decoder_test {
namespace {

constexpr std::array<Positions, 6> kAll = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                           Positions::rotary, Positions::alibi,      Positions::t5};

DecoderOptions small(Positions positions) {
  return {.vocabulary = 11, .length = 7, .layers = 2, .d_model = 16, .heads = 2, .positions = positions};
}

// Of a sum of weights in f32: exp(score - lse) inherits the rounding of score, lse and their difference, each below 4,
// so at most 3 * 4 * 2^-24 of the sum; its own rounding and that of the weight make it less than 16.
constexpr double kSumError = 16 * 0x1p-24;

Tensor some_ids(std::int64_t seed = 1) {
  Generator generator(static_cast<std::uint64_t>(seed));
  return generator.randint(0, 11, {3, 7});
}

TEST(Decoder, HasAsManyNumbersAsTheArithmeticSays) {
  for (const Positions positions : kAll) {
    for (const bool tied : {true, false}) {
      DecoderOptions options = small(positions);
      options.tied = tied;
      options.d_ff = 24;
      Generator generator(1);
      EXPECT_EQ(parameter_count(Decoder(options, generator).parameters()), parameter_count(options))
          << name_of(positions);
    }
  }
  // By hand: GPT-2's smallest, with its 50,257 words and 1,024 positions.
  EXPECT_EQ(parameter_count(DecoderOptions{.vocabulary = 50257,
                                           .length = 1024,
                                           .layers = 12,
                                           .d_model = 768,
                                           .heads = 12,
                                           .positions = Positions::learned}),
            124439808);
  // As many with one head as with many.
  EXPECT_EQ(parameter_count(DecoderOptions{.vocabulary = 11, .d_model = 64, .heads = 1}),
            parameter_count(DecoderOptions{.vocabulary = 11, .d_model = 64, .heads = 8}));
}

TEST(Decoder, SeesNoTokenThatIsStillToCome) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const Decoder decoder(small(positions), generator);
    Tensor ids = some_ids();
    const Tensor before(decoder.forward(ids).value());
    ids.set({0, 5}, (static_cast<int>(ids.at({0, 5})) + 1) % 11);
    const Tensor after(decoder.forward(ids).value());
    for (std::int64_t t = 0; t < 7; ++t) {
      const bool same =
          before.view().select(0, 0).select(0, t).to_vector() == after.view().select(0, 0).select(0, t).to_vector();
      EXPECT_EQ(same, t < 5) << name_of(positions) << " at " << t;
    }
  }
}

TEST(Decoder, TellsTheOrderOfTokensWherePositionsDo) {
  // The last query of tokens a b c and b a c: only positions tell them apart in one layer.
  for (const Positions positions : kAll) {
    Generator generator(1);
    DecoderOptions options = small(positions);
    options.layers = 1;
    const Decoder decoder(options, generator);
    for (const Parameter& parameter : decoder.parameters()) {
      if (parameter.name == "t5.weight") parameter.value.mutable_value().set({1, 0}, 2.0);
    }
    const Tensor ids(std::vector<std::int64_t>{1, 2, 3, 2, 1, 3}, {2, 3});
    const Variable out = decoder.forward(ids);
    double most = 0;
    for (std::int64_t c = 0; c < 11; ++c) {
      most = std::max(most, std::fabs(out.value().at({0, 2, c}) - out.value().at({1, 2, c})));
    }
    if (positions == Positions::none) {
      EXPECT_LT(most, 1e-6);
    } else {
      EXPECT_GT(most, 1e-5) << name_of(positions);
    }
  }
}

TEST(Decoder, GivesAGradientToEachParameter) {
  for (const Positions positions : kAll) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      DecoderOptions options = small(positions);
      options.tied = dtype == DType::f32;
      Generator generator(1);
      const Decoder decoder(options, generator);
      const Variable loss = cross_entropy(
          decoder.forward(some_ids(), {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}}), some_ids(2));
      EXPECT_NEAR(loss.item(), std::log(11), 0.7);
      backward(loss);
      for (const Parameter& parameter : decoder.parameters()) {
        EXPECT_EQ(parameter.value.dtype(), DType::f32);
        EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
      }
    }
  }
}

TEST(Decoder, WeightsAreThoseOfEachHeadAndLayer) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const Decoder decoder(small(positions), generator, DType::f64);
    const std::vector<Tensor> weights = decoder.weights(some_ids());
    ASSERT_EQ(weights.size(), 2U);
    EXPECT_EQ(weights[0].shape().to_string(), "[3, 2, 7, 7]");
    EXPECT_EQ(weights[0].dtype(), DType::f64);
    double sum = 0;
    for (std::int64_t j = 0; j < 7; ++j) sum += weights[1].at({1, 1, 4, j});
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(weights[1].at({1, 1, 4, 5}), 0);
  }
}

Tensor side_by_side(const TensorView& a, const TensorView& b) {
  Tensor all(DType::i64, {a.dim(0), a.dim(1) + b.dim(1)});
  for (std::int64_t n = 0; n < all.dim(0); ++n) {
    for (std::int64_t t = 0; t < all.dim(1); ++t) {
      all.set({n, t}, t < a.dim(1) ? a.at({n, t}) : b.at({n, t - a.dim(1)}));
    }
  }
  return all;
}

// What generate() writes over the scores of the whole text, read anew for each token.
NewTokens read_anew(const Decoder& decoder, const Tensor& prompt, const GenerateOptions& options) {
  Tensor text(DType::i64, {prompt.dim(0), 0});
  return generate(prompt, options, [&](const TensorView& ids) {
    text = side_by_side(text, ids);
    return decoder.forward(text);
  });
}

TEST(Decoder, SaysOverItsCacheWhatTheWholeTextSays) {
  for (const Positions positions : kAll) {
    DecoderOptions options = small(positions);
    options.length = 15;
    Generator generator(3);
    const Decoder decoder(options, generator);
    for (const Parameter& parameter : decoder.parameters()) {
      if (parameter.name == "t5.weight") assign({parameter}, parameter.name, generator.randn({32, 2}));
    }
    for (const std::int64_t length : {1, 4}) {
      const Tensor prompt = generator.randint(0, 11, {3, length});
      const GenerateOptions endless{.most = 10};
      const auto said = decoder.generate(prompt, endless);
      EXPECT_THAT(said, testing::Each(testing::SizeIs(10))) << name_of(positions);
      EXPECT_EQ(said, read_anew(decoder, prompt, endless)) << name_of(positions) << " after " << length;
    }
  }
}

// In the dtype of a call that gives none: f64 for parameters of f64, f32 for those of 16 bits.
TEST(Decoder, WritesWhatItScores) {
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16}) {
    for (const Positions positions : kAll) {
      DecoderOptions options = small(positions);
      options.length = 15;
      Generator generator(3);
      const Decoder decoder(options, generator, dtype);
      const Tensor prompt = generator.randint(0, 11, {3, 4});
      const auto said = decoder.generate(prompt, {.most = 10});
      EXPECT_EQ(said, read_anew(decoder, prompt, {.most = 10})) << name_of(dtype) << " " << name_of(positions);
      EXPECT_EQ(decoder.forward(prompt).dtype(), dtype == DType::f64 ? DType::f64 : DType::f32);
    }
  }
}

TEST(Decoder, WritesInTheDtypeThatIsAskedFor) {
  Generator generator(3);
  const Decoder decoder(small(Positions::rotary), generator);
  const auto wide = decoder.generate(generator.randint(0, 11, {1, 3}), {.most = 4, .dtype = DType::bf16});
  EXPECT_THAT(wide, testing::ElementsAre(testing::SizeIs(4)));
  EXPECT_EQ(decoder.make_cache(1, 4).dtype, DType::f32);
  EXPECT_EQ(decoder.make_cache(1, 4, DType::bf16).dtype, DType::bf16);
}

// A text longer than the window is read anew from its last tokens, for each token.
TEST(Decoder, WritesOnBeyondItsWindow) {
  for (const Positions positions : kAll) {
    DecoderOptions options = small(positions);
    options.length = 6;
    Generator generator(3);
    const Decoder decoder(options, generator);
    const Tensor prompt = generator.randint(0, 11, {2, 4});
    const auto written = decoder.generate(prompt, {.most = 7, .window = 6});
    Tensor text = prompt;
    for (std::size_t n = 0; n < 7; ++n) {
      const std::int64_t first = std::max<std::int64_t>(text.dim(1) - 6, 0);
      const Tensor seen(text.view().slice(1, first, text.dim(1)));
      const auto next = generate(seen, {.most = 1}, [&](const TensorView& ids) { return decoder.forward(ids); });
      const Tensor more(std::vector<std::int64_t>{next[0][0], next[1][0]}, {2, 1});
      for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(written[b][n], next[b][0]) << name_of(positions) << " " << n;
      text = side_by_side(text, more);
    }
  }
}

// The fused kernels take blocks of queries or one, in another order of sums: eight roundings of scores of about 1.
TEST(Decoder, ReadsOnOverItsCache) {
  for (const Positions positions : kAll) {
    Generator generator(3);
    const Decoder decoder(small(positions), generator);
    const Tensor ids = some_ids();
    const Tensor whole(decoder.forward(ids).value());
    DecoderCache cache = decoder.make_cache(3, 7);
    std::int64_t first = 0;
    for (const std::int64_t last : {3, 4, 7}) {
      const Tensor part(decoder.forward_cached(ids.view().slice(1, first, last), cache).value());
      const std::vector<double> wanted = Tensor(whole.view().slice(1, first, last)).to_vector();
      EXPECT_THAT(part.to_vector(), testing::Pointwise(testing::DoubleNear(1e-5), wanted)) << name_of(positions);
      first = last;
    }
    EXPECT_EQ(cache.length, 7);
  }
}

TEST(Decoder, ScoresTheLastTokenAlone) {
  for (const bool tied : {true, false}) {
    DecoderOptions options = small(Positions::rotary);
    options.tied = tied;
    Generator generator(1);
    const Decoder decoder(options, generator);
    const Tensor all(decoder.forward(some_ids()).value());
    const Variable last = decoder.forward(some_ids(), {.scores = Scores::last});
    EXPECT_EQ(last.shape().to_string(), "[3, 1, 11]");
    // 16 products of numbers below 4, summed in another order where the product is of another height.
    EXPECT_THAT(last.value().to_vector(),
                testing::Pointwise(testing::DoubleNear(16 * 4 * 0x1p-24), all.view().slice(1, 6, 7).to_vector()));
  }
}

TEST(Decoder, ShowsATraceWhatItComputes) {
  Generator generator(1);
  const Decoder decoder(small(Positions::rotary), generator);
  Trace trace({"blocks.*.attn.q", "blocks.1.attn.weights", "logits"});
  const Variable scores = decoder.forward(some_ids(), {.trace = &trace});
  EXPECT_THAT(trace.names(), testing::ElementsAre("blocks.0.attn.q", "blocks.1.attn.q", "logits"));
  EXPECT_EQ(trace["logits"].to_vector(), scores.value().to_vector());
  EXPECT_EQ(trace["blocks.1.attn.weights"].to_vector(), decoder.weights(some_ids())[1].to_vector());
}

TEST(Decoder, FactsGiveTheOptionsBack) {
  for (const Positions positions : kAll) {
    DecoderOptions options = small(positions);
    options.tied = positions == Positions::t5;
    EXPECT_EQ(config_of(decoder_options(config_of(options))), config_of(options));
  }
  DecoderOptions gemma = small(Positions::rotary);
  gemma.order = NormOrder::both;
  gemma.embedding = EmbeddingScale::root_width;
  gemma.logit_softcap = 30;
  gemma.choices = {
      .norm = NormKind::rms_plus_one, .scale = 0.3, .softcap = 50, .local_rotary_base = 100, .windows = {4, 0}};
  EXPECT_EQ(decoder_options(config_of(gemma)).choices, gemma.choices);
  EXPECT_EQ(config_of(decoder_options(config_of(gemma))), config_of(gemma));
  EXPECT_EQ(config_of(gemma).at("order"), "both");
  auto config = config_of(small(Positions::none));
  config["layers"] = "two";
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder_options(config)); }),
            "decoder_options: layers: expected a whole number, got \"two\"");
  config.erase("layers");
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder_options(config)); }),
            "decoder_options: layers: expected a value, got none");
  config["kind"] = "encoder";
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder_options(config)); }),
            "decoder_options: kind: expected decoder, got \"encoder\"");
}

TEST(Decoder, RefusesWhatHasNoMeaning) {
  const auto message = [](const DecoderOptions& options) {
    return error_message([&] {
      Generator generator(1);
      Decoder decoder(options, generator);
    });
  };
  EXPECT_EQ(message({.vocabulary = 0}), "Decoder: vocabulary: expected more than 0, got 0");
  EXPECT_EQ(message({.vocabulary = 9, .layers = 0}), "Decoder: layers: expected more than 0, got 0");
  EXPECT_EQ(message({.vocabulary = 9, .heads = 0}), "Decoder: heads: expected more than 0, got 0");
  EXPECT_EQ(message({.vocabulary = 9, .d_ff = 0}), "Decoder: d_ff: expected more than 0, got 0");
  EXPECT_EQ(
      message({.vocabulary = 9, .d_model = 64, .heads = 6}),
      "Decoder: heads: expected a divisor of `d_model`, 64, since each head has `d_model` / `heads` of it, got 6");
  EXPECT_EQ(
      message({.vocabulary = 9, .d_model = 6, .heads = 2}),
      "Decoder: heads: expected heads of even width, which rotary positions turn in pairs; `d_model` is 6, got 2");
  EXPECT_EQ(message({.vocabulary = 9, .logit_softcap = 0}),
            "Decoder: logit_softcap: expected a positive number, got 0");
  EXPECT_EQ(message({.vocabulary = 9, .d_context = 0}), "Decoder: d_context: expected more than 0, got 0");
  EXPECT_EQ(message({.vocabulary = 9, .positions = Positions::learned}),
            "Decoder: length: expected more than 0, for learned positions, got 0");
  EXPECT_EQ(error_message([] { static_cast<void>(positions_named("rope")); }),
            "positions_named: positions: expected one of none, sinusoidal, learned, rotary, alibi, t5, got \"rope\"");
  Generator generator(1);
  const Decoder decoder(small(Positions::learned), generator);
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder.forward(Tensor(DType::i64, {1, 8}))); }),
            "Decoder: ids: expected a text of at most 7 tokens, for which there are learned positions, got 8 tokens");
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder.forward(Tensor(DType::i64, {8}))); }),
            "Decoder: ids: expected [B, T], got [8]");
}

Variable some_context(std::int64_t texts, std::int64_t places) {
  Generator generator(5);
  return Variable(generator.randn({texts, places, 6}));
}

TEST(Decoder, ReadsAContextByCrossAttention) {
  DecoderOptions options = small(Positions::sinusoidal);
  options.d_context = 6;
  options.order = NormOrder::post;
  Generator generator(1);
  const Decoder decoder(options, generator);
  EXPECT_EQ(parameter_count(decoder.parameters()), parameter_count(options));
  EXPECT_EQ(config_of(decoder_options(config_of(options))), config_of(options));

  // What stands in the padding of a context changes nothing.
  const Variable context = some_context(3, 5);
  Tensor other(context.value());
  other.set({1, 4, 2}, 40.0);
  const auto scores = [&](const Variable& hidden) {
    return Tensor(decoder.forward_cross(some_ids(), {.hidden = hidden, .lengths = {5, 4, 2}}).value())
        .view()
        .to_vector();
  };
  EXPECT_EQ(scores(context), scores(Variable(other)));
  const DecoderWeights weights = decoder.weights_cross(some_ids(), {.hidden = context, .lengths = {5, 4, 2}});
  ASSERT_EQ(weights.tokens.size(), 2U);
  ASSERT_EQ(weights.cross.size(), 2U);
  EXPECT_EQ(weights.tokens[1].shape().to_string(), "[3, 2, 7, 7]");
  EXPECT_EQ(weights.cross[1].shape().to_string(), "[3, 2, 7, 5]");
  EXPECT_NEAR(weights.cross[1].at({2, 1, 3, 0}) + weights.cross[1].at({2, 1, 3, 1}), 1, kSumError);
  EXPECT_EQ(weights.cross[1].at({2, 1, 3, 2}), 0);
}

TEST(Decoder, RefusesAContextThatItDoesNotRead) {
  Generator generator(1);
  const Decoder plain(small(Positions::none), generator);
  EXPECT_EQ(error_message([&] {
              static_cast<void>(plain.forward_cross(some_ids(), {.hidden = some_context(3, 5), .lengths = {}}));
            }),
            "Decoder: context: expected none, without d_context, got [3, 5, 6]");
  DecoderOptions options = small(Positions::none);
  options.d_context = 6;
  const Decoder decoder(options, generator);
  const std::string expected = "Decoder: context: expected [B, Tk, 6] with the B of ids, got ";
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder.forward(some_ids())); }), expected + "none");
  EXPECT_EQ(error_message([&] { static_cast<void>(decoder.weights(some_ids())); }), expected + "none");
  const auto message = [&](const DecoderContext& context) {
    return error_message([&] { static_cast<void>(decoder.forward_cross(some_ids(), context)); });
  };
  EXPECT_EQ(message({.hidden = some_context(2, 5), .lengths = {}}), expected + "[2, 5, 6]");
  EXPECT_EQ(message({.hidden = some_context(3, 5), .lengths = {5, 5}}),
            "Decoder: lengths: expected one for each of 3 texts, got 2");
  EXPECT_EQ(message({.hidden = some_context(3, 5), .lengths = {5, 5, 6}}),
            "Decoder: lengths: expected from 0 to 5, the tokens of a row, got 6");
  const Embedding table({.count = 9, .width = 16}, generator);
  EXPECT_EQ(error_message([&] { Decoder shared(small(Positions::none), table, generator); }),
            "Decoder: vocabulary: expected a table of [11, 16], got [9, 16]");
}

}  // namespace
}  // namespace qkv::decoder_test
