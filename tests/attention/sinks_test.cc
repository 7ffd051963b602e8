// A learned logit for each head that takes part in the softmax and has no value.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error_message.h"
#include "qkv/attention.h"

namespace qkv::sinks_test {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

Tensor tensor(const std::vector<double>& values, const Shape& shape) { return {values, shape}; }

// One query of D = Dv = 1 whose scores are k itself.
AttentionResult one_query(const std::vector<double>& k, const std::vector<double>& v, const AttentionOptions& options) {
  const auto Tk = static_cast<std::int64_t>(k.size());
  return attention(tensor({1}, {1, 1, 1, 1}), tensor(k, {1, 1, Tk, 1}), tensor(v, {1, 1, Tk, 1}), options);
}

TEST(Sinks, TakeWeightFromTheKeys) {
  const AttentionResult result = one_query({0, 0}, {3, 6}, {.sinks = {0.0}});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(DoubleEq(3)));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(DoubleEq(std::log(3.0))));
}

// A sink is a key of that score and of value 0.
TEST(Sinks, AreAKeyWithoutAValue) {
  const std::vector<double> sinks = {-0.5, 2};
  const Tensor q = tensor({1, 2, 3, 4}, {1, 2, 2, 1});
  const Tensor k = tensor({0.5, -1, 2}, {1, 1, 3, 1});
  const Tensor v = tensor({1, -2, 3}, {1, 1, 3, 1});
  const AttentionResult result = attention(q, k, v, {.sinks = sinks});
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const double x = q.at({0, h, i, 0});
      const double sink = sinks[static_cast<std::size_t>(h)];
      const AttentionResult longer = one_query({0.5 * x, -x, 2 * x, sink}, {1, -2, 3, 0}, {});
      EXPECT_DOUBLE_EQ(result.out.at({0, h, i, 0}), longer.out.at({0, 0, 0, 0}));
      EXPECT_DOUBLE_EQ(result.lse.at({0, h, i}), longer.lse.at({0, 0, 0}));
    }
  }
}

TEST(Sinks, LeaveARowThatSeesNothingZero) {
  const AttentionResult result = one_query({1, 2}, {std::nan(""), 3}, {.mask = none(), .sinks = {-1.25}});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(0));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(-1.25));
  EXPECT_THAT(one_query({}, {}, {.sinks = {7.0}}).lse.to_vector(), ElementsAre(7));
}

TEST(Sinks, DoNotHideANan) {
  const AttentionResult result = one_query({1, std::nan("")}, {1, 2}, {.sinks = {1e30}});
  EXPECT_THAT(result.out.to_vector(), Each(IsNan()));
  EXPECT_THAT(result.lse.to_vector(), Each(IsNan()));
}

TEST(Sinks, OfAnySizeDoNotOverflow) {
  EXPECT_THAT(one_query({0}, {5}, {.sinks = {1e30}}).out.to_vector(), ElementsAre(0));
  EXPECT_THAT(one_query({0}, {5}, {.sinks = {1e30}}).lse.to_vector(), ElementsAre(1e30));
  EXPECT_THAT(one_query({0}, {5}, {.sinks = {-1e30}}).out.to_vector(), ElementsAre(5));
}

TEST(Sinks, AreInTheStagesFromTheWeightsOn) {
  const Tensor q = tensor({1}, {1, 1, 1, 1});
  const Tensor k = tensor({0, 0, 0}, {1, 1, 3, 1});
  const AttentionOptions options = {.sinks = {0.0}};
  const auto stages = attention_stages(q, k, options, {Stage::masked, Stage::weights, Stage::dropped});
  EXPECT_THAT(stages[0].to_vector(), ElementsAre(0, 0, 0));
  EXPECT_THAT(stages[1].to_vector(), Each(0.25));
  EXPECT_THAT(stages[2].to_vector(), Each(0.25));
}

TEST(Sinks, AreOneFiniteNumberForEachQueryHead) {
  const Tensor x(DType::f32, {1, 2, 3, 4});
  const auto message = [&](std::vector<double> sinks) {
    return error_message([&] { static_cast<void>(attention(x, x, x, {.sinks = std::move(sinks)})); });
  };
  EXPECT_EQ(message({1}), "attention: sinks: expected 2, one for each query head, got 1");
  EXPECT_EQ(message({1, 2, 3}), "attention: sinks: expected 2, one for each query head, got 3");
  EXPECT_EQ(message({1, std::nan("")}), "attention: sinks: expected finite numbers, got nan");
  EXPECT_EQ(message({-std::numeric_limits<double>::infinity(), 1}),
            "attention: sinks: expected finite numbers, got -inf");
}

}  // namespace
}  // namespace qkv::sinks_test
