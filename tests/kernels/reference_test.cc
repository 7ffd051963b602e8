// The reference against the definition written once more, in another shape: whole matrices, long double, no rows.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/fused_call.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/softmax.h"

namespace qkv::kernels::reference_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

struct Options {
  DType dtype;
  std::int64_t group;
  Mask mask;
  Bias bias;
  std::optional<double> softcap;
  std::optional<Dropout> dropout;
};

// out at one place straight from the formula: sum of exp(s) z v / sum of exp(s), without taking a maximum out.
long double expected_out(const Problem& problem, const TensorView& v, const Place& place, std::int64_t d) {
  long double numerator = 0;
  long double denominator = 0;
  const std::int64_t key_head = place.h / problem.group;
  for (std::int64_t j = 0; j < problem.shape.Tk; ++j) {
    const Place pair = {.b = place.b, .h = place.h, .i = place.i, .j = j};
    if (!problem.mask.allows(pair, problem.shape)) continue;
    long double score = 0;
    for (std::int64_t c = 0; c < problem.q.dim(3); ++c) {
      score += static_cast<long double>(problem.q.at({place.b, place.h, place.i, c})) *
               problem.k.at({place.b, key_head, j, c});
    }
    score *= problem.scale;
    if (problem.softcap) score = *problem.softcap * std::tanh(score / *problem.softcap);
    const long double weight = std::exp(score + problem.bias.at(pair, problem.shape));
    denominator += weight;
    if (problem.dropout && !dropout_keeps(problem.dropout->seed, problem.dropout->p, pair)) continue;
    numerator += weight * v.at({place.b, key_head, j, d}) / (problem.dropout ? 1 - problem.dropout->p : 1);
  }
  return denominator == 0 ? 0 : numerator / denominator;
}

class Reference : public testing::TestWithParam<Options> {};

TEST_P(Reference, FollowsTheDefinition) {
  const Options& chosen = GetParam();
  std::mt19937_64 engine(42);
  constexpr std::int64_t kKeyHeads = 2;
  const MaskShape shape = {.B = 2, .H = kKeyHeads * chosen.group, .Tq = 5, .Tk = 7};
  const Tensor q = normal(engine, {shape.B, shape.H, shape.Tq, 4}, chosen.dtype);
  const Tensor k = normal(engine, {shape.B, kKeyHeads, shape.Tk, 4}, chosen.dtype);
  const Tensor v = normal(engine, {shape.B, kKeyHeads, shape.Tk, 3}, chosen.dtype);
  const Problem problem = {.q = q,
                           .k = k,
                           .v = v,
                           .shape = shape,
                           .group = chosen.group,
                           .scale = 0.5,
                           .softcap = chosen.softcap,
                           .bias = chosen.bias,
                           .mask = chosen.mask,
                           .dropout = chosen.dropout};
  Tensor out(DType::f64, {shape.B, shape.H, shape.Tq, 3});
  Tensor lse(DType::f64, {shape.B, shape.H, shape.Tq});
  reference::forward(problem, out, lse);
  // Scores stay below 20 here and values below 4: (D + 8) and (2 Tk + 8) roundings of 2^-53, as derived for the
  // property tests, and twice that for dropout's division.
  constexpr double kBound = 2 * (2 * 12 * 20 + 22) * 4 * 0x1p-53;
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      for (std::int64_t i = 0; i < shape.Tq; ++i) {
        for (std::int64_t d = 0; d < 3; ++d) {
          const auto expected = static_cast<double>(expected_out(problem, v, {.b = b, .h = h, .i = i}, d));
          EXPECT_NEAR(out.at({b, h, i, d}), expected, kBound);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, Reference,
                         testing::Values(Options{DType::f64, 1, all(), Bias(), std::nullopt, std::nullopt},
                                         Options{DType::f32, 3, causal(), Bias(), std::nullopt, std::nullopt},
                                         Options{DType::f16, 2, causal(Align::top_left), alibi(), 2.0, std::nullopt},
                                         Options{DType::bf16, 1, key_lengths({3, 7}) & window(4), alibi(), std::nullopt,
                                                 Dropout{.p = 0.3, .seed = 9}},
                                         Options{DType::f64, 2, none(), Bias(), 1.0, Dropout{.p = 0.5, .seed = 1}}));

TEST(SoftmaxRow, ReturnsTheLogOfTheSum) {
  std::vector<double> weights(2);
  EXPECT_DOUBLE_EQ(reference::softmax_row(std::vector<double>{0, 0}, weights), std::log(2.0));
  EXPECT_THAT(weights, ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));
  EXPECT_EQ(reference::sum_row({}, std::nullopt).lse(), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace qkv::kernels::reference_test
