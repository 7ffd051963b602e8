#include "qkv/insight/rollout.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/insight/texts.h"

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
  const TrainedModel trained = TrainedModel::read(trained_model_path("brackets"));
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

TEST(AttentionRollout, RefusesWhatIsNoSelfAttention) {
  EXPECT_THAT(error_message([] { static_cast<void>(attention_rollout(std::vector<TensorView>())); }),
              HasSubstr("layers: expected one or more, got none"));
  const Tensor wide(DType::f32, {1, 2, 3});
  const std::vector<TensorView> layers = {wide};
  EXPECT_THAT(error_message([&] { static_cast<void>(attention_rollout(layers)); }),
              HasSubstr("layers: expected [H, T, T] with one T, got [1, 2, 3]"));
  const TrainedModel trained = TrainedModel::read(trained_model_path("previous"));
  const HeadTexts texts = head_texts(trained, 1);
  EXPECT_THAT(error_message([&] {
                static_cast<void>(attention_rollout(trained.model(), texts.texts.front(), AttentionSite::cross));
              }),
              HasSubstr("site: expected self-attention that the model has, got cross"));
}

}  // namespace
}  // namespace qkv::rollout_test
