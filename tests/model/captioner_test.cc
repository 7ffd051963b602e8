#include "qkv/model/captioner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error_message.h"
#include "model/central_difference.h"
#include "qkv/autograd/softmax.h"
#include "qkv/train/optimizer.h"

namespace qkv::captioner_test {
namespace {

using testing::ElementsAre;

constexpr std::array<Positions, 6> kAll = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                           Positions::rotary, Positions::alibi,      Positions::t5};

CaptionerOptions small(Positions positions = Positions::learned) {
  return {.image_side = 8,
          .patch_side = 4,
          .vocabulary = 11,
          .length = 7,
          .encoder_layers = 1,
          .layers = 2,
          .d_model = 16,
          .heads = 2,
          .d_ff = 24,
          .positions = positions};
}

Tensor some_images(std::int64_t count, std::uint64_t seed = 1) { return Generator(seed).rand({count, 3, 8, 8}); }

Tensor some_ids(std::int64_t count, std::uint64_t seed = 1) { return Generator(seed).randint(0, 11, {count, 7}); }

TEST(Captioner, HasAsManyNumbersAsTheArithmeticSays) {
  for (const Positions positions : kAll) {
    for (const bool tied : {true, false}) {
      CaptionerOptions options = small(positions);
      options.tied = tied;
      Generator generator(1);
      EXPECT_EQ(parameter_count(Captioner(options, generator).parameters()), parameter_count(options))
          << name_of(positions);
    }
  }
  // By hand, with d = 2, d_ff = 8 and one block each: a block has 2 norms of 4, attention of 4 (4 + 2) and a
  // feed-forward of 24 + 18; cross-attention adds a norm and as much attention again.
  const CaptionerOptions tiny{.image_side = 4,
                              .patch_side = 2,
                              .vocabulary = 5,
                              .length = 3,
                              .encoder_layers = 1,
                              .layers = 1,
                              .d_model = 2,
                              .heads = 1,
                              .positions = Positions::none};
  const std::int64_t block = 8 + 24 + 24 + 18;
  EXPECT_EQ(parameter_count(tiny), 26 + 8 + 9 + block + 4 + 10 + (block + 4 + 24) + 4);
}

TEST(Captioner, ReadsImageAndTheTokensBefore) {
  Generator generator(1);
  const Captioner captioner(small(), generator);
  Tensor images = some_images(2);
  Tensor ids = some_ids(2);
  const Tensor before(captioner.forward(images, ids).value());
  EXPECT_EQ(before.shape().to_string(), "[2, 7, 11]");
  ids.set({0, 4}, (static_cast<int>(ids.at({0, 4})) + 1) % 11);
  const Tensor other_text(captioner.forward(images, ids).value());
  for (std::int64_t t = 0; t < 7; ++t) {
    const bool same =
        before.view().select(0, 0).select(0, t).to_vector() == other_text.view().select(0, 0).select(0, t).to_vector();
    EXPECT_EQ(same, t < 4) << t;
  }
  images.set({1, 0, 7, 7}, 2.0);
  const Tensor other_image(captioner.forward(images, ids).value());
  EXPECT_EQ(other_text.view().select(0, 0).to_vector(), other_image.view().select(0, 0).to_vector());
  for (std::int64_t t = 0; t < 7; ++t) {
    EXPECT_NE(other_text.view().select(0, 1).select(0, t).to_vector(),
              other_image.view().select(0, 1).select(0, t).to_vector());
  }
}

TEST(Captioner, DoesNotSeeThePaddingOfCaptions) {
  // A caption of four tokens alone, and padded to seven.
  for (const Positions positions : kAll) {
    Generator generator(1);
    const Captioner captioner(small(positions), generator);
    const Tensor images = some_images(1);
    Tensor ids = some_ids(1);
    const Tensor alone(captioner.forward(images, ids.view().slice(1, 0, 4)).value());
    for (std::int64_t t = 4; t < 7; ++t) ids.set({0, t}, 0);
    const Tensor padded(captioner.forward(images, ids).value());
    const std::vector<double> a = alone.to_vector();
    const std::vector<double> b = Tensor(padded.view().slice(1, 0, 4)).to_vector();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << name_of(positions);
    // Nor does its loss, nor any gradient.
    const auto loss_of = [&](std::int64_t length) {
      Tensor targets(some_ids(1, 2).view().slice(1, 0, length));
      for (std::int64_t t = 4; t < length; ++t) targets.set({0, t}, -100);
      const Variable loss = cross_entropy(captioner.forward(images, ids.view().slice(1, 0, length)), targets);
      backward(loss);
      std::vector<double> gradient = captioner.parameters()[2].value.gradient().to_vector();
      for (const Parameter& parameter : captioner.parameters()) parameter.value.clear_gradient();
      gradient.push_back(loss.item());
      return gradient;
    };
    const std::vector<double> short_loss = loss_of(4);
    const std::vector<double> long_loss = loss_of(7);
    for (std::size_t i = 0; i < short_loss.size(); ++i) EXPECT_NEAR(short_loss[i], long_loss[i], 1e-5);
  }
}

TEST(Captioner, GradientsAreThoseOfCentralDifferences) {
  for (const Positions positions : {Positions::learned, Positions::rotary, Positions::t5}) {
    Generator generator(1);
    CaptionerOptions options = small(positions);
    options.tied = positions != Positions::rotary;
    const Captioner captioner(options, generator, DType::f64);
    const Tensor images = some_images(2);
    Tensor targets = some_ids(2, 2);
    targets.set({1, 6}, -100);
    const auto loss = [&] {
      return cross_entropy(captioner.forward(images, some_ids(2), {.dtype = DType::f64}), targets);
    };
    EXPECT_EQ(tests::gradient_fault(captioner.parameters(), loss), "") << name_of(positions);
  }
}

TEST(Captioner, GivesAGradientToEachParameter) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Generator generator(1);
    const Captioner captioner(small(Positions::t5), generator);
    const Variable scores =
        captioner.forward(some_images(3), some_ids(3),
                          {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}, .memory = BlockMemory::recompute});
    EXPECT_EQ(scores.dtype(), dtype);
    const Variable loss = cross_entropy(scores, some_ids(3, 2));
    EXPECT_NEAR(loss.item(), std::log(11), 0.7);
    backward(loss);
    for (const Parameter& parameter : captioner.parameters()) {
      EXPECT_EQ(parameter.value.dtype(), DType::f32);
      EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
    }
  }
}

TEST(Captioner, WritesWhatIsMostLikelyUntilTheEnd) {
  // Two images of one colour each, learned by heart: 5 6 7, and 8, between begin 1 and end 2.
  Generator generator(1);
  const Captioner captioner(small(), generator);
  Tensor images(DType::f32, {2, 3, 8, 8});
  for (std::int64_t y = 0; y < 8; ++y) {
    for (std::int64_t x = 0; x < 8; ++x) images.set({1, 0, y, x}, 1.0);
  }
  const Tensor ids(std::vector<std::int64_t>{1, 5, 6, 7, 1, 8, 0, 0}, {2, 4});
  const Tensor targets(std::vector<std::int64_t>{5, 6, 7, 2, 8, 2, -100, -100}, {2, 4});
  const auto optimizer = make_adamw(captioner.parameters());
  for (int step = 0; step < 60; ++step) {
    clear_gradients(optimizer->parameters());
    backward(cross_entropy(captioner.forward(images, ids), targets));
    optimizer->step(0.01);
  }
  EXPECT_THAT(captioner.generate(images, Tensor(std::vector<std::int64_t>{1, 1}, {2, 1}), {.ends = {2}, .most = 6}),
              ElementsAre(ElementsAre(5, 6, 7), ElementsAre(8)));
  EXPECT_THAT(captioner.generate(images, Tensor(std::vector<std::int64_t>{1, 1}, {2, 1}), {.ends = {2}, .most = 2}),
              ElementsAre(ElementsAre(5, 6), ElementsAre(8)));
}

TEST(Captioner, WritesOverItsCacheWhatTheWholeCaptionSays) {
  for (const Positions positions : kAll) {
    Generator generator(3);
    const Captioner captioner(small(positions), generator);
    const Tensor images = some_images(3);
    const auto written = captioner.generate(images, Tensor(std::vector<std::int64_t>{1, 1, 1}, {3, 1}), {.most = 6});
    std::vector<std::int64_t> ids;
    for (const std::vector<std::int64_t>& caption : written) {
      ASSERT_EQ(caption.size(), 6U);  // no token ends a caption
      ids.push_back(1);
      ids.insert(ids.end(), caption.begin(), caption.end());
    }
    const Tensor scores(captioner.forward(images, Tensor(ids, {3, 7})).value());
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t t = 0; t < 6; ++t) {
        const std::vector<double> row = scores.view().select(0, b).select(0, t).to_vector();
        EXPECT_EQ(std::ranges::max_element(row) - row.begin(),
                  written[static_cast<std::size_t>(b)][static_cast<std::size_t>(t)])
            << name_of(positions) << " at " << t;
      }
    }
  }
}

TEST(Captioner, WeightsAreThoseOfEachSite) {
  Generator generator(1);
  const Captioner captioner(small(), generator, DType::f64);
  const DecoderWeights weights = captioner.weights(some_images(3), some_ids(3));
  ASSERT_EQ(weights.tokens.size(), 2U);
  ASSERT_EQ(weights.cross.size(), 2U);
  EXPECT_EQ(weights.tokens[0].shape().to_string(), "[3, 2, 7, 7]");
  EXPECT_EQ(weights.cross[1].shape().to_string(), "[3, 2, 7, 4]");
  EXPECT_EQ(weights.tokens[1].at({1, 1, 4, 5}), 0);
  double sum = 0;
  for (std::int64_t j = 0; j < 4; ++j) sum += weights.cross[1].at({2, 1, 6, j});
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Captioner, FactsGiveTheOptionsBack) {
  for (const Positions positions : kAll) {
    CaptionerOptions options = small(positions);
    options.tied = positions == Positions::t5;
    EXPECT_EQ(config_of(captioner_options(config_of(options))), config_of(options));
  }
  auto config = config_of(small());
  config.erase("patch_side");
  EXPECT_EQ(error_message([&] { static_cast<void>(captioner_options(config)); }),
            "captioner_options: patch_side: expected a value, got none");
  config["kind"] = "decoder";
  EXPECT_EQ(error_message([&] { static_cast<void>(captioner_options(config)); }),
            "captioner_options: kind: expected captioner, got \"decoder\"");
}

TEST(Captioner, RefusesWhatHasNoMeaning) {
  const auto message = [](const auto& change) {
    return error_message([&] {
      CaptionerOptions options = small();
      change(options);
      Generator generator(1);
      Captioner captioner(options, generator);
    });
  };
  EXPECT_EQ(message([](auto& o) { o.patch_side = 3; }),
            "PatchEncoder: patch_side: expected a divisor of `image_side`, 8, got 3");
  EXPECT_EQ(message([](auto& o) { o.encoder_layers = 0; }), "Captioner: encoder_layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.layers = 0; }), "Captioner: layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.vocabulary = 0; }), "Captioner: vocabulary: expected more than 0, got 0");
  EXPECT_EQ(
      message([](auto& o) { o.heads = 3; }),
      "Captioner: heads: expected a divisor of `d_model`, 16, since each head has `d_model` / `heads` of it, got 3");
  Generator generator(1);
  const Captioner captioner(small(), generator);
  EXPECT_EQ(error_message([&] { static_cast<void>(captioner.forward(some_images(2), some_ids(3))); }),
            "Decoder: context: expected [B, Tk, 16] with the B of ids, got [2, 4, 16]");
  EXPECT_EQ(error_message([&] { static_cast<void>(captioner.forward(Tensor(DType::f32, {2, 1, 8, 8}), some_ids(2))); }),
            "PatchEncoder: images: expected f32 [B, 3, 8, 8], got f32 [2, 1, 8, 8]");
}

}  // namespace
}  // namespace qkv::captioner_test
