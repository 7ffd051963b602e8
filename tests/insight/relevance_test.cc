// Relevance against gradients of the weights that are measured, and covers against passes over covered images.
#include "qkv/insight/relevance.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error_message.h"
#include "model/tower_folder.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/scope.h"
#include "qkv/nn/trace.h"
#include "train/boxed.h"

namespace qkv::relevance_test {
namespace {

constexpr double kStep = 1e-4;

struct Pair {
  Tensor image;  // [1, 3, side, side]
  Tensor ids;    // [1, T]
  std::vector<std::int32_t> tokens;
};

Pair pair_for(const TwoTowerOptions& options) {
  Generator generator(8);
  const std::vector<std::int32_t> tokens = {1, 4, 2, 3};
  return {.image = generator.randn({1, 3, options.image_side, options.image_side}, DType::f32),
          .ids = Tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), {1, 4}),
          .tokens = tokens};
}

double cosine_of(const TwoTower& towers, const Pair& pair, Trace* of_image, Trace* of_text) {
  const NoGradient constant;
  return sum(towers.embed_images(pair.image, {.trace = of_image}) *
             towers.embed_texts({.ids = pair.ids}, {.trace = of_text}))
      .item();
}

// The derivative of the cosine by one weight of a head.
double slope(const TwoTower& towers, const Pair& pair, const std::string& attention, const HeadPlace& head,
             std::int64_t i, std::int64_t j) {
  const auto moved = [&](double by) {
    Trace trace(std::vector<std::string>{});
    trace.edit_heads(attention + ".weights", {head.h}, [&](const Variable& weights) {
      Tensor step(weights.dtype(), weights.shape());
      step.set({0, 0, i, j}, by);
      return weights + Variable(std::move(step));
    });
    const bool is_image = attention.starts_with("image");
    return cosine_of(towers, pair, is_image ? &trace : nullptr, is_image ? nullptr : &trace);
  };
  return (moved(kStep) - moved(-kStep)) / (2 * kStep);
}

// Equation 5 with measured slopes: [T][T].
std::vector<std::vector<double>> measured(const TwoTower& towers, const Pair& pair, const std::string& attention) {
  Trace image({"*.attn"});
  Trace text({"*.attn"});
  static_cast<void>(cosine_of(towers, pair, &image, &text));
  const Tensor weights = (attention.starts_with("image") ? image : text)[attention + ".weights"];
  const std::int64_t heads = weights.dim(1);
  std::vector<std::vector<double>> mean(static_cast<std::size_t>(weights.dim(2)),
                                        std::vector<double>(static_cast<std::size_t>(weights.dim(3))));
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      for (std::size_t j = 0; j < mean[i].size(); ++j) {
        const std::array at = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
        const double by = slope(towers, pair, attention, {.b = 0, .h = h}, at[0], at[1]);
        mean[i][j] += std::max(0.0, by * weights.at({0, h, at[0], at[1]})) / static_cast<double>(heads);
      }
    }
  }
  return mean;
}

TwoTowerOptions small_towers() {
  return {.image_side = 6,
          .patch_side = 2,
          .vocabulary = 6,
          .length = 5,
          .image_layers = 1,
          .text_layers = 1,
          .d_model = 8,
          .heads = 2,
          .positions = Positions::learned};
}

// Of one layer R - I is A, and the mean of its rows is read.
TEST(PairRelevance, OfMeansIsTheMeanRowOfWeightsTimesTheirSlopes) {
  Generator generator(3);
  const TwoTower towers(small_towers(), generator, DType::f64);
  const Pair pair = pair_for(towers.options());
  const PairRelevance relevance = pair_relevance(towers, pair.image.view().select(0, 0), pair.tokens);
  EXPECT_NEAR(relevance.cosine, cosine_of(towers, pair, nullptr, nullptr), 1e-12);
  const auto expect_means = [](const std::vector<std::vector<double>>& rows, const TensorView& got) {
    const std::vector<double> values = got.to_vector();
    ASSERT_EQ(values.size(), rows.size());
    double most = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      double sum = 0;
      for (const auto& row : rows) sum += row[j];
      EXPECT_NEAR(values[j], sum / static_cast<double>(rows.size()), 1e-7);
      most = std::max(most, values[j]);
    }
    EXPECT_GT(most, 1e-4);
  };
  expect_means(measured(towers, pair, "image.blocks.0.attn"), relevance.patches);
  expect_means(measured(towers, pair, "text.blocks.0.attn"), relevance.tokens);
  for (const Parameter& parameter : towers.parameters()) EXPECT_FALSE(parameter.value.has_gradient()) << parameter.name;
}

// The class token's row without its own place, and that of the end.
TEST(PairRelevance, OfOneTokenIsItsRow) {
  TwoTowerOptions options = small_towers();
  options.image_pooling = ImagePooling::class_token;
  options.relative = false;
  options.text_pooling = TextPooling::end;
  options.end = 2;
  options.self_attention = SelfAttention::causal;
  Generator generator(3);
  const TwoTower towers(options, generator, DType::f64);
  const Pair pair = pair_for(options);
  const PairRelevance relevance = pair_relevance(towers, pair.image.view().select(0, 0), pair.tokens);
  const std::vector<double> image = measured(towers, pair, "image.blocks.0.attn")[0];
  for (std::int64_t n = 0; n < 9; ++n) {
    EXPECT_NEAR(relevance.patches.at({n / 3, n % 3}), image[static_cast<std::size_t>(n) + 1], 1e-7);
  }
  const std::vector<double> text = measured(towers, pair, "text.blocks.0.attn")[2];
  for (std::int64_t n = 0; n < 4; ++n) EXPECT_NEAR(relevance.tokens.at({n}), text[static_cast<std::size_t>(n)], 1e-7);
  EXPECT_EQ(relevance.tokens.at({3}), 0);  // behind the end
}

// A R with the pool's own A, where R = I + A of the layer.
TEST(PairRelevance, OfAPoolGoesThroughItsWeights) {
  TwoTowerOptions options = small_towers();
  options.image_pooling = ImagePooling::attention;
  options.image_map = false;
  Generator generator(3);
  const TwoTower towers(options, generator, DType::f64);
  const Pair pair = pair_for(options);
  const PairRelevance relevance = pair_relevance(towers, pair.image.view().select(0, 0), pair.tokens);
  const std::vector<double> pool = measured(towers, pair, "image_pool.attn")[0];
  const auto layer = measured(towers, pair, "image.blocks.0.attn");
  for (std::size_t j = 0; j < 9; ++j) {
    double wanted = pool[j];
    for (std::size_t i = 0; i < 9; ++i) wanted += pool[i] * layer[i][j];
    EXPECT_NEAR(relevance.patches.view().to_vector()[j], wanted, 1e-7);
  }
}

TEST(CoveredImage, IsWhatTheCosineLosesWithoutAPatch) {
  Generator generator(3);
  const TwoTower towers(small_towers(), generator, DType::f64);
  const Pair pair = pair_for(towers.options());
  const Tensor lost = CoveredImage(towers, pair.image.view().select(0, 0)).losses(pair.tokens);
  ASSERT_EQ(lost.shape(), (Shape{3, 3}));
  Pair covered = pair;
  covered.image = Tensor(pair.image.view());
  for (std::int64_t c = 0; c < 3; ++c) {
    std::vector<double> values = pair.image.view().select(0, 0).select(0, c).to_vector();
    std::ranges::sort(values);
    for (const std::int64_t y : {2, 3}) {
      for (const std::int64_t x : {4, 5}) covered.image.set({0, c, y, x}, values[18]);
    }
  }
  const double before = cosine_of(towers, pair, nullptr, nullptr);
  EXPECT_NEAR(lost.at({1, 2}), before - cosine_of(towers, covered, nullptr, nullptr), 1e-12);
}

TEST(CoveredImage, IsTheSecondDifferenceOfCosines) {
  Generator generator(3);
  const TwoTower towers(small_towers(), generator, DType::f64);
  const Pair whole = pair_for(towers.options());
  const std::vector<std::vector<std::int32_t>> shortened = {{4, 2, 3}, {1, 2, 3}};
  const TensorView image = whole.image.view().select(0, 0);
  const CoveredImage covered(towers, image);
  const Tensor both = covered.interaction(whole.tokens, shortened);
  ASSERT_EQ(both.shape(), (Shape{2, 3, 3}));
  const Tensor lost = covered.losses(whole.tokens);
  const Tensor lost_without = covered.losses(shortened[1]);
  for (std::int64_t n = 0; n < 9; ++n) {
    EXPECT_NEAR(both.at({1, n / 3, n % 3}), lost.at({n / 3, n % 3}) - lost_without.at({n / 3, n % 3}), 1e-12);
  }
}

// In the box a word that names a thing is seen where the thing stands.
TEST(CoveredImage, InTheBoxPutsWordsOnTheirThings) {
  const TrainedModel& trained = tests::boxed("towers");
  const auto& towers = std::get<TwoTower>(trained.model().network());
  double share = 0;
  double words = 0;
  for (std::int64_t n = 0; n < 8; ++n) {
    const Example example = trained.task().example(Split::test, n);
    std::vector<std::vector<std::int32_t>> shortened;
    std::vector<std::vector<std::int64_t>> keys;
    for (const PatternRow& row : example.patterns[0]) {
      if (row.query + 1 >= std::ssize(example.tokens)) continue;
      shortened.push_back(example.tokens);
      shortened.back().erase(shortened.back().begin() + row.query + 1);
      keys.push_back(row.keys);
    }
    const Tensor both = CoveredImage(towers, example.image).interaction(example.tokens, shortened);
    for (std::size_t word = 0; word < keys.size(); ++word) {
      const std::vector<double> map = both.view().select(0, static_cast<std::int64_t>(word)).to_vector();
      double all = 0;
      double on = 0;
      for (const double value : map) all += std::max(0.0, value);
      for (const std::int64_t key : keys[word]) on += std::max(0.0, map[static_cast<std::size_t>(key)]);
      share += on / all;
      words += 1;
    }
  }
  EXPECT_GT(share / words, 0.6);  // a thing has a ninth of the patches
}

// In the box: what stands in the caption counts, and the ground around it does not.
TEST(CoveredImage, InTheBoxLiesOnTheThings) {
  const TrainedModel& trained = tests::boxed("towers");
  const auto& towers = std::get<TwoTower>(trained.model().network());
  constexpr std::int64_t kExamples = 8;
  double covered = 0;
  double attention = 0;
  double area = 0;
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = trained.task().example(Split::test, n);
    std::set<std::int64_t> things;
    for (const PatternRow& row : example.patterns[0]) things.insert(row.keys.begin(), row.keys.end());
    const auto share = [&](const TensorView& map) {
      const std::vector<double> values = map.to_vector();
      double on = 0;
      double all = 0;
      for (std::size_t patch = 0; patch < values.size(); ++patch) {
        const double value = std::max(0.0, values[patch]);
        all += value;
        on += things.contains(static_cast<std::int64_t>(patch)) ? value : 0;
      }
      return on / all / kExamples;
    };
    covered += share(CoveredImage(towers, example.image).losses(example.tokens));
    attention += share(pair_relevance(towers, example.image, example.tokens).patches);
    area += static_cast<double>(things.size()) / 36 / kExamples;
  }
  EXPECT_GT(covered, 0.95);
  EXPECT_GT(attention, 2 * area);
}

TEST(PairRelevance, ReadsWhatOthersPublish) {
  for (const char* type : {"clip", "siglip"}) {
    const tests::TowerFolder folder(type);
    const TrainedModel trained = TrainedModel::read(folder.path());
    const auto& towers = std::get<TwoTower>(trained.model().network());
    const Tensor image = Generator(4).randn({3, 8, 8}, DType::f32);
    const PairRelevance relevance = pair_relevance(towers, image, trained.example_of("a red circle").tokens);
    EXPECT_EQ(relevance.patches.shape(), (Shape{2, 2})) << type;
    EXPECT_GT(std::ranges::max(relevance.patches.view().to_vector()), 0) << type;
    EXPECT_EQ(relevance.tokens.dim(0), std::string(type) == "clip" ? 5 : 9);
    EXPECT_EQ(CoveredImage(towers, image).losses(trained.example_of("a red circle").tokens).shape(), (Shape{2, 2}));
  }
}

class CaptionMaps : public testing::Test {
 protected:
  const TrainedModel& trained_ = tests::boxed("shapes");
  const Captioner& captioner_ = std::get<Captioner>(trained_.model().network());
  Example example_ = trained_.task().example(Split::test, 0);
  std::vector<std::int32_t> said_ = said_of(example_);

  static std::vector<std::int32_t> said_of(const Example& example) {
    std::vector<std::int32_t> all;
    for (const auto& label : example.labels) all.push_back(*label);
    return all;
  }

  // The share of the maps of colours and shapes that lies on the thing itself.
  static double on_things(const Example& example, const Tensor& maps) {
    double share = 0;
    for (const PatternRow& row : example.patterns[0]) {
      const std::vector<double> values = maps.view().select(0, row.query).to_vector();
      double all = 0;
      double on = 0;
      for (const double value : values) all += std::max(0.0, value);
      for (const std::int64_t key : row.keys) on += std::max(0.0, values[static_cast<std::size_t>(key)]);
      share += on / all / static_cast<double>(example.patterns[0].size());
    }
    return share;
  }
};

TEST_F(CaptionMaps, LieOnTheThingThatIsNamed) {
  const Tensor covered = caption_occlusion(captioner_, example_.image, example_.tokens, said_);
  ASSERT_EQ(covered.shape(), (Shape{std::ssize(said_), 6, 6}));
  EXPECT_GT(on_things(example_, covered), 0.8);
  const Tensor relevance = caption_relevance(captioner_, example_.image, example_.tokens, said_);
  ASSERT_EQ(relevance.shape(), covered.shape());
  EXPECT_GE(std::ranges::min(relevance.view().to_vector()), 0);
}

// A thing has a ninth of the patches.
TEST_F(CaptionMaps, OfRelevanceLieOnTheThingMoreThanByChance) {
  constexpr std::int64_t kExamples = 40;
  double mean = 0;
  std::int64_t above = 0;
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = trained_.task().example(Split::test, n);
    const double share =
        on_things(example, caption_relevance(captioner_, example.image, example.tokens, said_of(example)));
    mean += share / kExamples;
    above += share > 1.0 / 9 ? 1 : 0;
  }
  EXPECT_GT(mean, 0.3);
  EXPECT_EQ(above, kExamples);
}

// Tokens that follow a place do not count there.
TEST_F(CaptionMaps, OfTheFirstTokensAreThoseOfAShorterText) {
  const Tensor whole = caption_relevance(captioner_, example_.image, example_.tokens, said_);
  const auto first = static_cast<std::ptrdiff_t>(4);
  const std::vector<std::int32_t> tokens(example_.tokens.begin(), example_.tokens.begin() + first);
  const std::vector<std::int32_t> said(said_.begin(), said_.begin() + first);
  const Tensor part = caption_relevance(captioner_, example_.image, tokens, said);
  EXPECT_EQ(part.to_vector(), Tensor(whole.view().slice(0, 0, first)).to_vector());
}

TEST_F(CaptionMaps, NeedATokenForEachPlace) {
  const std::vector<std::int32_t> few = {3};
  EXPECT_EQ(
      error_message([&] { static_cast<void>(caption_relevance(captioner_, example_.image, example_.tokens, few)); }),
      "caption_relevance: said: expected " + std::to_string(example_.tokens.size()) +
          ", a token for each place, got 1");
  EXPECT_EQ(
      error_message([&] { static_cast<void>(caption_occlusion(captioner_, example_.image, example_.tokens, few)); }),
      "caption_occlusion: said: expected " + std::to_string(example_.tokens.size()) +
          ", a token for each place, got 1");
}

}  // namespace
}  // namespace qkv::relevance_test
