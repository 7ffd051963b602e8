#include "qkv/insight/rollout.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/insight/texts.h"
#include "qkv/random.h"
#include "qkv/softmax.h"
#include "train/boxed.h"

namespace qkv::rollout_test {
namespace {

using testing::HasSubstr;

// Two heads of two tokens: one keeps to itself, one looks at the first.
Tensor layer() { return {std::vector<double>{1, 0, 0, 1, 1, 0, 1, 0}, {2, 2, 2}}; }

TEST(AttentionRollout, IsTheProductOfLayersWithTheirResiduals) {
  const Tensor weights = layer();
  const std::vector<TensorView> layers = {weights, weights};
  const std::vector<Tensor> rollout = attention_rollout(layers);
  ASSERT_EQ(rollout.size(), 2U);
  // The mean of the heads' second rows is (1/2, 1/2); with the residual (1/4, 3/4), and its square (7/16, 9/16).
  EXPECT_EQ(rollout[0].to_vector(), (std::vector<double>{1, 0, 0.25, 0.75}));
  EXPECT_EQ(rollout[1].to_vector(), (std::vector<double>{1, 0, 0.4375, 0.5625}));
}

// Order: the upper layer is on the left. Below token 1 looks at token 0, above token 2 at token 1.
TEST(AttentionRollout, GoesFromTheTopDown) {
  const Tensor below(std::vector<double>{1, 0, 0, 1, 0, 0, 0, 0, 1}, {1, 3, 3});
  const Tensor above(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 1, 0}, {1, 3, 3});
  const std::vector<TensorView> layers = {below, above};
  EXPECT_DOUBLE_EQ(attention_rollout(layers)[1].at({2, 0}), 0.25);
  const std::vector<TensorView> other = {above, below};
  EXPECT_DOUBLE_EQ(attention_rollout(other)[1].at({2, 0}), 0);
}

TEST(AttentionRollout, OfAModelHasRowsThatSumToOne) {
  const TrainedModel& trained = tests::boxed("brackets");
  const HeadTexts texts = head_texts(trained, 1);
  const std::vector<Tensor> rollout = attention_rollout(trained.model(), texts.texts.front());
  ASSERT_EQ(rollout.size(), 3U);
  for (std::int64_t i = 0; i < rollout[2].dim(0); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < rollout[2].dim(1); ++j) sum += rollout[2].at({i, j});
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_EQ(rollout[2].at({0, 1}), 0);  // a decoder sees nothing that follows
}

// Two layers of two tokens, one head: what passes from a place of the upper layer to a token below is the smaller of
// each pair of pipes, added up over the places between.
TEST(AttentionFlow, IsTheNarrowestPipeOfEachPath) {
  const Tensor below(std::vector<double>{1, 0, 0.6, 0.4}, {1, 2, 2});
  const Tensor above(std::vector<double>{0.8, 0.2, 0, 1}, {1, 2, 2});
  const std::vector<TensorView> layers = {below, above};
  // With the residual: below (1, 0; 0.3, 0.7), above (0.9, 0.1; 0, 1).
  const Tensor flow = attention_flow(layers);
  EXPECT_NEAR(flow.at({0, 0}), 0.9 + 0.1, 1e-12);
  EXPECT_NEAR(flow.at({0, 1}), 0.1, 1e-12);
  EXPECT_NEAR(flow.at({1, 0}), 0.3, 1e-12);
  EXPECT_NEAR(flow.at({1, 1}), 0.7, 1e-12);
}

// The least cut of a network is its largest flow (Ford and Fulkerson 1956): all cuts of a small one, one by one.
TEST(AttentionFlow, IsTheLeastCut) {
  constexpr std::int64_t kTokens = 3;
  constexpr std::int64_t kLayers = 3;
  Generator generator(4);
  std::vector<Tensor> weights;
  for (std::int64_t n = 0; n < kLayers; ++n) {
    weights.push_back(softmax(generator.randn({2, kTokens, kTokens}, DType::f64), -1));
  }
  const std::vector<TensorView> layers(weights.begin(), weights.end());
  const Tensor flow = attention_flow(layers);
  const auto width = [&](std::int64_t layer, std::int64_t i, std::int64_t j) {
    const Tensor& one = weights[static_cast<std::size_t>(layer)];
    return 0.25 * (one.at({0, i, j}) + one.at({1, i, j})) + (i == j ? 0.5 : 0);
  };
  constexpr unsigned kNodes = kTokens * (kLayers + 1);
  for (unsigned from = 0; from < kTokens; ++from) {
    for (unsigned to = 0; to < kTokens; ++to) {
      double least = 1e9;
      for (unsigned side = 0; side < 1U << kNodes; ++side) {  // the nodes beside the source
        const auto is_beside = [&](std::int64_t layer, std::int64_t token) {
          return (side >> (layer * kTokens + token) & 1U) != 0;
        };
        if (!is_beside(kLayers, from) || is_beside(0, to)) continue;
        double cut = 0;
        for (std::int64_t layer = 0; layer < kLayers; ++layer) {
          for (std::int64_t i = 0; i < kTokens; ++i) {
            for (std::int64_t j = 0; j < kTokens; ++j) {
              if (is_beside(layer + 1, i) && !is_beside(layer, j)) cut += width(layer, i, j);
            }
          }
        }
        least = std::min(least, cut);
      }
      EXPECT_NEAR(flow.at({from, to}), least, 1e-9) << from << " " << to;
    }
  }
}

TEST(AttentionFlow, OfADecoderIsNothingFromWhatFollows) {
  const TrainedModel& trained = tests::boxed("brackets");
  const HeadTexts texts = head_texts(trained, 1);
  const Tensor flow = attention_flow(trained.model(), texts.texts.front());
  EXPECT_EQ(flow.at({0, 1}), 0);
  EXPECT_NEAR(flow.at({0, 0}), 1, 1e-6);
  EXPECT_THAT(error_message([&] {
                static_cast<void>(attention_flow(trained.model(), texts.texts.front(), AttentionSite::cross));
              }),
              HasSubstr("attention_flow: site: expected self-attention that the model has, got cross"));
}

TEST(AttentionRollout, RefusesWhatIsNoSelfAttention) {
  EXPECT_THAT(error_message([] { static_cast<void>(attention_rollout(std::vector<TensorView>())); }),
              HasSubstr("layers: expected one or more, got none"));
  const Tensor wide(DType::f32, {1, 2, 3});
  const std::vector<TensorView> layers = {wide};
  EXPECT_THAT(error_message([&] { static_cast<void>(attention_rollout(layers)); }),
              HasSubstr("layers: expected [H, T, T] with one T, got [1, 2, 3]"));
  const TrainedModel& trained = tests::boxed("previous");
  const HeadTexts texts = head_texts(trained, 1);
  EXPECT_THAT(error_message([&] {
                static_cast<void>(attention_rollout(trained.model(), texts.texts.front(), AttentionSite::cross));
              }),
              HasSubstr("site: expected self-attention that the model has, got cross"));
}

}  // namespace
}  // namespace qkv::rollout_test
