#include "qkv/model/two_tower.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "model/central_difference.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/shape.h"
#include "qkv/train/optimizer.h"

namespace qkv::two_tower_test {
namespace {

constexpr std::array<Positions, 6> kAll = {Positions::none,   Positions::sinusoidal, Positions::learned,
                                           Positions::rotary, Positions::alibi,      Positions::t5};

TwoTowerOptions small(Positions positions = Positions::learned) {
  return {.image_side = 8,
          .patch_side = 4,
          .vocabulary = 11,
          .length = 5,
          .image_layers = 1,
          .text_layers = 2,
          .d_model = 16,
          .heads = 2,
          .d_ff = 24,
          .d_embedding = 6,
          .positions = positions};
}

Tensor some_images(std::int64_t count, std::uint64_t seed = 1) { return Generator(seed).rand({count, 3, 8, 8}); }

Tensor some_ids(std::int64_t count, std::uint64_t seed = 1) { return Generator(seed).randint(0, 11, {count, 5}); }

TEST(ContrastiveLoss, IsTheMeanOfBothCrossEntropies) {
  // Two pairs on the axes of a plane, the second text turned by 60 degrees: cosines 1, cos 60 against 0 and sin 60.
  const double s = std::sin(std::numbers::pi / 3);
  const Variable images(Tensor(std::vector<double>{1, 0, 0, 1}, {2, 2}));
  const Variable texts(Tensor(std::vector<double>{1, 0, 0.5, s}, {2, 2}));
  const Variable log_scale(Tensor(std::vector<double>{std::log(3.0)}, {1}));
  const auto entropy = [](double own, double other) { return std::log(1 + std::exp(3 * (other - own))); };
  const double by_image = (entropy(1, 0.5) + entropy(s, 0)) / 2;
  const double by_text = (entropy(1, 0) + entropy(s, 0.5)) / 2;
  EXPECT_NEAR(contrastive_loss(images, texts, log_scale).item(), (by_image + by_text) / 2, 1e-14);
}

TEST(ContrastiveLoss, GradientsAreThoseOfCentralDifferences) {
  const Operation loss = [](const std::vector<Variable>& x) { return contrastive_loss(x[0], x[1], x[2]); };
  EXPECT_EQ(gradient_fault(loss, {normal_numbers(1, {4, 3}), normal_numbers(2, {4, 3}), normal_numbers(3, {1})}), "");
}

TEST(PairLoss, BySigmoidTakesEachPairByItself) {
  const Variable scores(Tensor(std::vector<double>{2, -1, 0.5, 800}, {2, 2}));
  const auto minus_log = [](double x) { return std::log1p(std::exp(-x)); };
  const double expected = (minus_log(2) + minus_log(1) + minus_log(-0.5) + minus_log(800)) / 2;
  EXPECT_NEAR(pair_loss(PairLoss::sigmoid, scores).item(), expected, 1e-14);
  const Operation loss = [](const std::vector<Variable>& x) { return pair_loss(PairLoss::sigmoid, x[0]); };
  EXPECT_EQ(gradient_fault(loss, {normal_numbers(1, {3, 3})}), "");
}

TEST(PairScores, AreCosinesTimesTheScaleAndTheBias) {
  const Variable images(Tensor(std::vector<double>{1, 0, 0.6, 0.8}, {2, 2}));
  const Variable texts(Tensor(std::vector<double>{0, 1, 1, 0, 0.8, 0.6}, {3, 2}));
  const Variable scale(Tensor(std::vector<double>{std::log(5.0)}, {1}));
  const Variable bias(Tensor(std::vector<double>{-2}, {1}));
  EXPECT_THAT(pair_scores(images, texts, scale, bias).value().to_vector(),
              testing::Pointwise(testing::DoubleNear(1e-14), {-2.0, 3.0, 2.0, 2.0, 1.0, 2.8}));
  EXPECT_THAT(pair_scores(images, texts, scale).value().to_vector(),
              testing::Pointwise(testing::DoubleNear(1e-14), {0.0, 5.0, 4.0, 4.0, 3.0, 4.8}));
}

TEST(ContrastiveLoss, RefusesWhatIsNoPair) {
  const Variable images(Tensor(DType::f32, {4, 3}));
  const Variable scale(Tensor(DType::f32, {1}));
  EXPECT_EQ(
      error_message([&] { static_cast<void>(contrastive_loss(images, Variable(Tensor(DType::f32, {3, 3})), scale)); }),
      "contrastive_loss: texts: expected one for each image, [B, E], of the shape [4, 3], got [3, 3]");
  EXPECT_EQ(error_message([&] { static_cast<void>(contrastive_loss(images, images, images)); }),
            "contrastive_loss: log_scale: expected [1], got [4, 3]");
}

TEST(TwoTower, HasAsManyNumbersAsTheArithmeticSays) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    EXPECT_EQ(parameter_count(TwoTower(small(positions), generator).parameters()), parameter_count(small(positions)))
        << name_of(positions);
  }
  // By hand, with d = 2 and d_ff = 8: a block has 2 norms of 4, attention of 4 (4 + 2) and a feed-forward of 24 + 18.
  const TwoTowerOptions tiny{.image_side = 4,
                             .patch_side = 2,
                             .vocabulary = 5,
                             .length = 3,
                             .image_layers = 1,
                             .text_layers = 1,
                             .d_model = 2,
                             .heads = 1,
                             .positions = Positions::none};
  const std::int64_t block = 8 + 24 + 24 + 18;
  EXPECT_EQ(parameter_count(tiny), 26 + 8 + 9 + block + 4 + 10 + block + 4 + 8 + 1);
}

TEST(TwoTower, EmbeddingsHaveLengthOne) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Generator generator(1);
    const TwoTower towers(small(), generator);
    const Tensor ids = some_ids(3);
    for (const Variable& x :
         {towers.embed_images(some_images(3), {.dtype = dtype}), towers.embed_texts({.ids = ids}, {.dtype = dtype})}) {
      EXPECT_EQ(x.shape().to_string(), "[3, 6]");
      EXPECT_EQ(x.dtype(), DType::f32);
      for (std::int64_t b = 0; b < 3; ++b) {
        double square = 0;
        for (std::int64_t e = 0; e < 6; ++e) square += x.value().at({b, e}) * x.value().at({b, e});
        EXPECT_NEAR(square, 1, 1e-5);
      }
    }
  }
}

TEST(TwoTower, DoesNotReadThePaddingOfTexts) {
  for (const Positions positions : kAll) {
    Generator generator(1);
    const TwoTower towers(small(positions), generator);
    Tensor ids = some_ids(2);
    const PaddedTokens padded{.ids = ids, .lengths = {3, 5}};
    const Tensor before(towers.embed_texts(padded).value());
    const Tensor alone(towers.embed_texts({.ids = ids.view().slice(0, 0, 1).slice(1, 0, 3)}).value());
    for (std::int64_t e = 0; e < 6; ++e) EXPECT_NEAR(before.at({0, e}), alone.at({0, e}), 1e-5) << name_of(positions);
    ids.set({0, 4}, (static_cast<int>(ids.at({0, 4})) + 1) % 11);
    EXPECT_EQ(Tensor(towers.embed_texts(padded).value()).to_vector(), before.to_vector());
    ids.set({0, 2}, (static_cast<int>(ids.at({0, 2})) + 1) % 11);
    EXPECT_NE(Tensor(towers.embed_texts(padded).value()).to_vector(), before.to_vector());
  }
}

TEST(TwoTower, GradientsAreThoseOfCentralDifferences) {
  for (const Positions positions : {Positions::learned, Positions::rotary, Positions::t5}) {
    Generator generator(1);
    const TwoTower towers(small(positions), generator, DType::f64);
    const Tensor images = some_images(3);
    const Tensor ids = some_ids(3);
    const auto loss = [&] { return towers.loss(images, {.ids = ids, .lengths = {3, 5, 1}}, {.dtype = DType::f64}); };
    EXPECT_EQ(tests::gradient_fault(towers.parameters(), loss), "") << name_of(positions);
  }
}

TEST(TwoTower, GivesAGradientToEachParameter) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Generator generator(1);
    const TwoTower towers(small(Positions::t5), generator);
    const Tensor ids = some_ids(4);
    const Variable loss =
        towers.loss(some_images(4), {.ids = ids},
                    {.dtype = dtype, .dropout = Dropout{.p = 0.1, .seed = 3}, .memory = BlockMemory::recompute});
    backward(loss);
    for (const Parameter& parameter : towers.parameters()) {
      EXPECT_EQ(parameter.value.dtype(), DType::f32);
      EXPECT_TRUE(parameter.value.has_gradient()) << parameter.name;
    }
  }
}

TEST(TwoTower, BringsTogetherWhatBelongsTogether) {
  Generator generator(1);
  const TwoTower towers(small(), generator);
  const Tensor images = some_images(6);
  const Tensor ids = some_ids(6);
  const auto optimizer = make_adamw(towers.parameters());
  for (int step = 0; step < 80; ++step) {
    clear_gradients(optimizer->parameters());
    backward(towers.loss(images, {.ids = ids}));
    optimizer->step(0.002);
  }
  const NoGradient constant;
  const Variable cosines = matmul(towers.embed_images(images), transpose(towers.embed_texts({.ids = ids}), 0, 1));
  for (std::int64_t b = 0; b < 6; ++b) {
    for (std::int64_t other = 0; other < 6; ++other) {
      if (other == b) continue;
      EXPECT_GT(cosines.value().at({b, b}), cosines.value().at({b, other}));
      EXPECT_GT(cosines.value().at({b, b}), cosines.value().at({other, b}));
    }
  }
}

TEST(TwoTower, ClipsTheScaleAtAHundred) {
  Generator generator(1);
  const TwoTower towers(small(), generator);
  const Variable log_scale = towers.parameters().back().value;
  EXPECT_NEAR(log_scale.item(), std::log(1 / 0.07), 1e-6);
  const Tensor ids = some_ids(2);
  const auto loss_with = [&](double value) {
    log_scale.mutable_value().set({0}, value);
    return towers.loss(some_images(2), {.ids = ids}).item();
  };
  EXPECT_EQ(loss_with(7), loss_with(std::log(100)));
  EXPECT_NEAR(log_scale.item(), std::log(100), 1e-6);
  static_cast<void>(loss_with(7));
  EXPECT_NEAR(log_scale.item(), std::log(100), 1e-6);
  static_cast<void>(loss_with(4.5));
  EXPECT_EQ(log_scale.item(), 4.5);
}

TEST(TwoTower, WeightsAreThoseOfEachTower) {
  Generator generator(1);
  const TwoTower towers(small(), generator);
  const Tensor ids = some_ids(2);
  const TwoTowerWeights weights = towers.weights(some_images(2), {.ids = ids, .lengths = {3, 5}});
  ASSERT_EQ(weights.patches.size(), 1U);
  ASSERT_EQ(weights.tokens.size(), 2U);
  EXPECT_EQ(weights.patches[0].shape().to_string(), "[2, 2, 4, 4]");
  EXPECT_EQ(weights.tokens[1].shape().to_string(), "[2, 2, 5, 5]");
  EXPECT_EQ(weights.tokens[1].at({0, 1, 1, 3}), 0);
  EXPECT_GT(weights.tokens[1].at({1, 1, 1, 3}), 0);
}

TEST(TwoTower, FactsGiveTheOptionsBack) {
  for (const Positions positions : kAll) {
    EXPECT_EQ(config_of(two_tower_options(config_of(small(positions)))), config_of(small(positions)));
  }
  auto config = config_of(small());
  config["d_embedding"] = "wide";
  EXPECT_EQ(error_message([&] { static_cast<void>(two_tower_options(config)); }),
            "two_tower_options: d_embedding: expected a whole number, got \"wide\"");
  config["kind"] = "captioner";
  EXPECT_EQ(error_message([&] { static_cast<void>(two_tower_options(config)); }),
            "two_tower_options: kind: expected two-tower, got \"captioner\"");
}

// As CLIP and SigLIP are.
TwoTowerOptions clip() {
  TwoTowerOptions options = small();
  options.image_margin = 2;
  options.patch_side = 3;
  options.relative = false;
  options.image_d_model = 12;
  options.image_heads = 3;
  options.activation = options.image_activation = Activation::quick_gelu;
  options.epsilon = options.image_epsilon = 1e-3;
  options.patch_bias = false;
  options.image_norm = true;
  options.self_attention = SelfAttention::causal;
  options.image_pooling = ImagePooling::class_token;
  options.text_pooling = TextPooling::end;
  options.end = 7;
  return options;
}

TwoTowerOptions siglip() {
  TwoTowerOptions options = small();
  options.d_embedding = 12;
  options.image_d_model = 12;
  options.image_heads = 3;
  options.image_d_ff = 20;
  options.relative = false;
  options.image_pooling = ImagePooling::attention;
  options.text_pooling = TextPooling::last;
  options.image_map = false;
  options.text_map_bias = true;
  options.loss = PairLoss::sigmoid;
  return options;
}

TEST(TwoTower, MayBeAClipOrASiglip) {
  for (const TwoTowerOptions& options : {clip(), siglip()}) {
    EXPECT_EQ(config_of(two_tower_options(config_of(options))), config_of(options));
    Generator generator(1);
    const TwoTower towers(options, generator, DType::f64);
    EXPECT_EQ(parameter_count(towers.parameters()), parameter_count(options));
    const Tensor images = some_images(3);
    const Tensor ids(std::vector<std::int64_t>{7, 1, 2, 3, 4, 5, 7, 8, 9, 7, 1, 2, 3, 4, 7}, {3, 5});
    EXPECT_EQ(tests::gradient_fault(towers.parameters(), [&] { return towers.loss(images, {.ids = ids}); }), "");
  }
  EXPECT_EQ(config_of(siglip()).at("loss"), "sigmoid");
  EXPECT_EQ(config_of(clip()).at("text_pooling"), "end");
}

// What is mapped to a text's embedding, and the place whose state it is.
void expect_place(TextPooling pooling, const std::vector<std::int64_t>& text, std::int64_t place) {
  TwoTowerOptions options = small();
  options.text_pooling = pooling;
  if (pooling == TextPooling::end) options.end = 7;
  Generator generator(1);
  const TwoTower towers(options, generator, DType::f64);
  Trace trace({"text", "text_map"});
  static_cast<void>(towers.embed_texts({.ids = Tensor(text, {1, 5})}, {.trace = &trace}));
  const Variable map = towers.parameters()[towers.parameters().size() - 2].value;
  for (std::int64_t e = 0; e < 6; ++e) {
    double sum = 0;
    for (std::int64_t d = 0; d < 16; ++d) sum += map.value().at({e, d}) * trace["text"].at({0, place, d});
    EXPECT_NEAR(trace["text_map"].at({0, e}), sum, 1e-14) << name_of(pooling);
  }
}

TEST(TwoTower, PoolsTheTokenThatStandsForAText) {
  expect_place(TextPooling::last, {1, 7, 9, 7, 9}, 4);
  expect_place(TextPooling::end, {1, 7, 9, 7, 9}, 1);
  expect_place(TextPooling::highest, {1, 7, 9, 7, 9}, 2);
  expect_place(TextPooling::end, {1, 2, 9, 3, 9}, 0);
}

TEST(TwoTower, PoolsAnImageByItsClassOrByAttention) {
  Generator generator(1);
  const TwoTower by_class(clip(), generator, DType::f64);
  Trace trace({"image", "image_map"});
  static_cast<void>(by_class.embed_images(some_images(2), {.trace = &trace}));
  EXPECT_EQ(trace["image"].shape().to_string(), "[2, 5, 12]");
  const Parameters all = by_class.parameters();
  const Variable map = std::ranges::find(all, "image_map.weight", &Parameter::name)->value;
  double sum = 0;
  for (std::int64_t d = 0; d < 12; ++d) sum += map.value().at({4, d}) * trace["image"].at({1, 0, d});
  EXPECT_NEAR(trace["image_map"].at({1, 4}), sum, 1e-14);

  const TwoTower by_attention(siglip(), generator, DType::f64);
  Trace pooled({"image_pool"});
  const Tensor embedding(by_attention.embed_images(some_images(2), {.trace = &pooled}).value());
  double square = 0;
  for (std::int64_t e = 0; e < 12; ++e) square += std::pow(pooled["image_pool"].at({1, e}), 2);
  EXPECT_NEAR(embedding.at({1, 3}), pooled["image_pool"].at({1, 3}) / std::sqrt(square), 1e-14);
}

TEST(TwoTower, StartsAsSiglipDoesAndClipsNoScaleOfIt) {
  Generator generator(1);
  const TwoTower towers(siglip(), generator);
  const Parameters all = towers.parameters();
  EXPECT_EQ(all.back().name, "logit_bias");
  EXPECT_EQ(all.back().value.item(), -10);
  const Variable scale = all[all.size() - 2].value;
  EXPECT_NEAR(scale.item(), std::log(10), 1e-6);
  scale.mutable_value().set({0}, 5);
  static_cast<void>(towers.loss(some_images(2), {.ids = some_ids(2)}));
  EXPECT_EQ(scale.item(), 5);
}

TEST(TwoTower, ComputesWhatFollowsBf16InF32) {
  Generator generator(1);
  const TwoTower towers(siglip(), generator, DType::bf16);
  const Variable images = towers.embed_images(some_images(2));
  EXPECT_EQ(images.dtype(), DType::f32);
  EXPECT_EQ(towers.scores(images, images).dtype(), DType::f32);
}

TEST(TwoTower, RefusesWhatHasNoMeaning) {
  const auto message = [](const auto& change) {
    return error_message([&] {
      TwoTowerOptions options = small();
      change(options);
      Generator generator(1);
      TwoTower towers(options, generator);
    });
  };
  EXPECT_EQ(message([](auto& o) { o.d_embedding = 0; }), "TwoTower: d_embedding: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.patch_side = 3; }),
            "PatchEncoder: patch_side: expected a divisor of `image_side`, 8, got 3");
  EXPECT_EQ(message([](auto& o) { o.text_layers = 0; }), "TwoTower: text_layers: expected more than 0, got 0");
  EXPECT_EQ(message([](auto& o) { o.image_layers = 0; }), "TwoTower: image_layers: expected more than 0, got 0");
  EXPECT_EQ(
      message([](auto& o) { o.heads = 5; }),
      "TwoTower: heads: expected a divisor of `d_model`, 16, since each head has `d_model` / `heads` of it, got 5");
  Generator generator(1);
  const TwoTower towers(small(), generator);
  const Tensor ids = some_ids(2);
  EXPECT_EQ(error_message([&] { static_cast<void>(towers.embed_texts({.ids = ids, .lengths = {0, 5}})); }),
            "TwoTower: lengths: expected a token in each text, got 0");
  EXPECT_EQ(error_message([&] { static_cast<void>(towers.embed_texts({.ids = ids, .lengths = {5}})); }),
            "Encoder: lengths: expected one for each of 2 texts, got 1");
  EXPECT_EQ(error_message([&] { static_cast<void>(towers.loss(some_images(3), {.ids = ids})); }),
            "pair_loss: scores: expected [B, B], of a text for each image, got [3, 2]");
  EXPECT_EQ(message([](auto& o) { o.image_map = false; }),
            "TwoTower: d_embedding: expected 16, the width of images without a map, got 6");
  EXPECT_EQ(message([](auto& o) { o.end = 3; }),
            "TwoTower: end: expected a token for TextPooling::end, none for the others, got 3");
  EXPECT_EQ(message([](auto& o) { o.text_pooling = TextPooling::end; }),
            "TwoTower: end: expected a token for TextPooling::end, none for the others, got none");
  EXPECT_EQ(message([](auto& o) { o.image_pooling = ImagePooling::class_token; }),
            "PatchEncoder: relative: expected false with a class token, got true");
  EXPECT_EQ(error_message([&] {
              const Variable wide(Tensor(DType::f32, {2, 7}));
              static_cast<void>(towers.scores(towers.embed_images(some_images(2)), wide));
            }),
            "pair_scores: texts: expected [T, E] with the E of images, [2, 6], got [2, 7]");
}

}  // namespace
}  // namespace qkv::two_tower_test
