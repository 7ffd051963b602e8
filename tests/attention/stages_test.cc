// The intermediates of one small call, each against its formula worked out by hand.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "qkv/attention.h"

namespace qkv::stages_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// q = (1, 2), k = (1, 1), (2, 0), (0, -1): raw scores 3, 2, -2.
const Tensor& query() {
  static const Tensor q(std::vector<double>{1, 2}, {1, 1, 1, 2});
  return q;
}
const Tensor& keys() {
  static const Tensor k(std::vector<double>{1, 1, 2, 0, 0, -1}, {1, 1, 3, 2});
  return k;
}

AttentionOptions options() {
  return {.scale = 0.5,
          .softcap = 4.0,
          .bias = dense_bias(Tensor(std::vector<double>{0.25, -1, 0}, {1, 3})),
          .mask = key_lengths({2})};
}

std::vector<double> at(Stage stage) { return attention_stage(query(), keys(), options(), stage).to_vector(); }

TEST(Stages, FollowTheFormulas) {
  const double s0 = 4 * std::tanh(1.5 / 4);
  const double s1 = 4 * std::tanh(1.0 / 4);
  const double s2 = 4 * std::tanh(-1.0 / 4);
  EXPECT_THAT(at(Stage::raw), ElementsAre(3, 2, -2));
  EXPECT_THAT(at(Stage::scaled), ElementsAre(1.5, 1, -1));
  EXPECT_THAT(at(Stage::softcapped), ElementsAre(DoubleEq(s0), DoubleEq(s1), DoubleEq(s2)));
  EXPECT_THAT(at(Stage::biased), ElementsAre(DoubleEq(s0 + 0.25), DoubleEq(s1 - 1), DoubleEq(s2)));
  EXPECT_THAT(at(Stage::masked), ElementsAre(DoubleEq(s0 + 0.25), DoubleEq(s1 - 1), -kInfinity));
  const double e0 = std::exp(s0 + 0.25);
  const double e1 = std::exp(s1 - 1);
  EXPECT_THAT(at(Stage::weights), ElementsAre(DoubleEq(e0 / (e0 + e1)), DoubleEq(e1 / (e0 + e1)), 0));
  EXPECT_EQ(at(Stage::dropped), at(Stage::weights));
}

TEST(Stages, WithoutAScaleDivideByTheRootOfD) {
  EXPECT_THAT(attention_stage(query(), keys(), {}, Stage::scaled).to_vector(),
              ElementsAre(DoubleEq(3 / std::sqrt(2.0)), DoubleEq(2 / std::sqrt(2.0)), DoubleEq(-2 / std::sqrt(2.0))));
}

TEST(Stages, ShowWhatTheMaskHidesUntilItDoes) {
  Tensor k = keys();
  k.set({0, 0, 2, 0}, std::nan(""));
  EXPECT_THAT(attention_stage(query(), k, options(), Stage::biased).to_vector()[2], IsNan());
  EXPECT_EQ(attention_stage(query(), k, options(), Stage::masked).to_vector(), at(Stage::masked));
}

TEST(Stages, SeveralAreTheSameAsOneByOne) {
  const auto several = attention_stages(query(), keys(), options(), {Stage::weights, Stage::raw}, DType::f32);
  ASSERT_EQ(several.size(), 2U);
  EXPECT_EQ(several[0].dtype(), DType::f32);
  EXPECT_EQ(several[0].to_vector(),
            attention_stage(query(), keys(), options(), Stage::weights, DType::f32).to_vector());
  EXPECT_EQ(several[1].to_vector(), at(Stage::raw));
}

TEST(Stages, HaveNames) {
  EXPECT_EQ(name_of(Stage::raw), "raw");
  EXPECT_EQ(name_of(Stage::dropped), "dropped");
}

}  // namespace
}  // namespace qkv::stages_test
