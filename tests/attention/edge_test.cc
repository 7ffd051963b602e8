// The defined answers at the edges in f64: nothing to see, one token, no tokens, infinities and NaN.
// cases/extremes_test.cc holds every target to them in the other dtypes.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "qkv/attention.h"

namespace qkv::edge_test {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Tensor tensor(const std::vector<double>& values, const Shape& shape) { return {values, shape}; }

// One head of D = Dv = 1: with q = 1 the scores are k itself.
AttentionResult one_query(const std::vector<double>& k, const std::vector<double>& v,
                          const AttentionOptions& options = {}) {
  const auto Tk = static_cast<std::int64_t>(k.size());
  return attention(tensor({1}, {1, 1, 1, 1}), tensor(k, {1, 1, Tk, 1}), tensor(v, {1, 1, Tk, 1}), options);
}

TEST(Edges, OneTokenGivesItsValue) {
  const AttentionResult result = one_query({2.5}, {-7});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(-7));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(2.5));
}

TEST(Edges, NoKeysGiveZeros) {
  const AttentionResult result = one_query({}, {});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(0));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(-kInfinity));
}

TEST(Edges, NoQueriesAndNoBatchGiveNothing) {
  const Tensor k(DType::f32, {2, 1, 3, 4});
  EXPECT_EQ(attention(Tensor(DType::f32, {2, 1, 0, 4}), k, k).out.shape(), (Shape{2, 1, 0, 4}));
  const Tensor none(DType::f32, {0, 1, 3, 4});
  const AttentionResult result = attention(none, none, Tensor(DType::f32, {0, 1, 3, 5}), {.mask = causal()});
  EXPECT_EQ(result.out.shape(), (Shape{0, 1, 3, 5}));
  EXPECT_EQ(result.lse.shape(), (Shape{0, 1, 3}));
}

TEST(Edges, NoValueWidthStillHasLse) {
  const Tensor q(DType::f64, {1, 1, 1, 2});
  const Tensor k(DType::f64, {1, 1, 4, 2});
  const AttentionResult result = attention(q, k, Tensor(DType::f64, {1, 1, 4, 0}));
  EXPECT_EQ(result.out.shape(), (Shape{1, 1, 1, 0}));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(DoubleEq(std::log(4.0))));
}

TEST(Edges, ARowThatSeesNothingIsZero) {
  const AttentionResult result = one_query({1, 2}, {kNan, 3}, {.mask = none()});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(0));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(-kInfinity));
}

// Bottom-right: with more queries than keys the first ones come before every key.
TEST(Edges, CausalLeavesEarlyQueriesWithNothing) {
  const Tensor q = tensor({1, 1, 1}, {1, 1, 3, 1});
  const Tensor k = tensor({0, 0}, {1, 1, 2, 1});
  const Tensor v = tensor({4, 8}, {1, 1, 2, 1});
  EXPECT_THAT(attention(q, k, v, {.mask = causal()}).out.to_vector(), ElementsAre(0, 4, 6));
  EXPECT_THAT(attention(q, k, v, {.mask = causal(Align::top_left)}).out.to_vector(), ElementsAre(4, 6, 6));
}

TEST(Edges, ForbiddenNanDoesNotLeak) {
  EXPECT_THAT(one_query({1, kNan}, {5, kNan}, {.mask = key_lengths({1})}).out.to_vector(), ElementsAre(5));
  const Tensor bias = tensor({0, -kInfinity}, {1, 2});
  EXPECT_THAT(one_query({1, kNan}, {5, kNan}, {.bias = dense_bias(bias)}).out.to_vector(), ElementsAre(5));
}

TEST(Edges, AScoreOfMinusInfinityForbidsItsValue) {
  const AttentionResult result = one_query({0, -kInfinity}, {5, kNan});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(5));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(0));
  EXPECT_THAT(one_query({-kInfinity}, {kNan}).out.to_vector(), ElementsAre(0));
}

TEST(Edges, ABiasOfMinusInfinityForbidsEvenAScoreOfPlusInfinity) {
  const Tensor bias = tensor({0, -kInfinity}, {1, 2});
  EXPECT_THAT(one_query({1, kInfinity}, {5, 6}, {.bias = dense_bias(bias)}).out.to_vector(), ElementsAre(5));
}

TEST(Edges, AVisibleNanOrPlusInfinityMakesTheRowNan) {
  for (const double score : {kNan, kInfinity}) {
    const AttentionResult result = one_query({1, score}, {5, 6});
    EXPECT_THAT(result.out.to_vector(), Each(IsNan()));
    EXPECT_THAT(result.lse.to_vector(), Each(IsNan()));
  }
}

TEST(Edges, SoftcapBoundsAnInfiniteScore) {
  const AttentionResult result = one_query({kInfinity, -kInfinity}, {1, 2}, {.softcap = 2.0});
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(DoubleEq(std::log(std::exp(2.0) + std::exp(-2.0)))));
}

// Its weight may underflow to 0 or be dropped; the product is taken all the same.
TEST(Edges, AVisibleNanValueReachesTheRowWhateverItsWeight) {
  EXPECT_THAT(one_query({0, -1e6}, {5, kNan}).out.to_vector(), Each(IsNan()));
  std::uint64_t seed = 0;
  while (dropout_keeps(seed, 0.5, {})) ++seed;
  EXPECT_THAT(one_query({0}, {kNan}, {.dropout = Dropout{.p = 0.5, .seed = seed}}).out.to_vector(), Each(IsNan()));
}

TEST(Edges, DropoutDoesNotHideANanScore) {
  std::uint64_t seed = 0;
  while (dropout_keeps(seed, 0.5, {})) ++seed;
  EXPECT_THAT(one_query({kNan}, {5}, {.dropout = Dropout{.p = 0.5, .seed = seed}}).out.to_vector(), Each(IsNan()));
}

TEST(Edges, LargeScoresDoNotOverflow) {
  const AttentionResult result = one_query({1e6, 1e6}, {1, 3});
  EXPECT_THAT(result.out.to_vector(), ElementsAre(2));
  EXPECT_THAT(result.lse.to_vector(), ElementsAre(DoubleEq(1e6 + std::log(2.0))));
}

TEST(Edges, ResultsAreRoundedOnceToTheDtypeOfQ) {
  // (0 + 1 + 1) / 3 in f64, then one rounding.
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Tensor q(dtype, {1, 1, 1, 1});
    const Tensor k(dtype, {1, 1, 3, 1});
    const Tensor v = tensor({0, 1, 1}, {1, 1, 3, 1}).to(dtype);
    const AttentionResult result = attention(q, k, v);
    EXPECT_EQ(result.out.dtype(), dtype);
    EXPECT_EQ(result.out.at({0, 0, 0, 0}), tensor({2.0 / 3}, {1}).to(dtype).at({0}));
    EXPECT_EQ(result.lse.dtype(), dtype == DType::f64 ? DType::f64 : DType::f32);
  }
}

}  // namespace
}  // namespace qkv::edge_test
