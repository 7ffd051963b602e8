#include "qkv/nn/relative_scores.h"

#include <gmock/gmock.h>

#include <cmath>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/nn/attention.h"

namespace qkv::nn::relative_scores_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kWidth = 8;

MultiHeadAttention made(const RelativeScores& relative) {
  Generator generator(3);
  MultiHeadAttention layer({.d_model = kWidth, .heads = 2, .scale = 0.3, .relative = relative}, generator, DType::f64);
  shake(layer.parameters());
  return layer;
}

// As the program of `transformers` counts them, of 8 buckets up to 32, each side with 8 rows.
TEST(RelativeScores, CountFarDistancesByTheirLogarithm) {
  const RelativeScores relative{.span = 8, .buckets = 8, .longest = 32};
  std::vector<std::int64_t> rows;
  for (const std::int64_t distance : {-40, -19, -4, -1, 0, 3, 4, 5, 7, 8, 15, 16, 31, 32, 40}) {
    rows.push_back(relative_row(relative, distance));
  }
  EXPECT_THAT(rows, ElementsAre(0, 1, 4, 7, 8, 11, 12, 13, 13, 14, 14, 15, 15, 15, 15));
  EXPECT_EQ(relative_row({.span = 256, .buckets = 256, .longest = 512}, 511), 511);
  EXPECT_EQ(relative_row({.span = 256, .buckets = 256, .longest = 512}, -511), 1);
  for (const std::int64_t distance : {-9, -3, 0, 2, 9}) {
    EXPECT_EQ(relative_row({.span = 3}, distance), std::clamp<std::int64_t>(distance + 3, 0, 5));
  }
}

// x times the map of this name, of a row of the table.
double element(const Parameters& parameters, const std::string& map, const Tensor& table, std::int64_t row,
               std::int64_t out) {
  const Tensor weight = value_of(parameters, map + ".weight");
  double sum = value_of(parameters, map + ".bias").at({out});
  for (std::int64_t c = 0; c < kWidth; ++c) sum += table.at({row, c}) * weight.at({out, c});
  return sum;
}

TEST(RelativeScores, AreContentTimesDistanceBothWays) {
  const Tensor x = normal({2, 5, kWidth}, 1);
  const Tensor table = normal({6, kWidth}, 2);
  for (const bool has_maps : {false, true}) {
    for (const auto& [of_queries, of_keys] : {std::pair{true, true}, {true, false}, {false, true}}) {
      const RelativeScores relative{.span = 3, .of_queries = of_queries, .of_keys = of_keys, .has_maps = has_maps};
      const MultiHeadAttention layer = made(relative);
      const Parameters all = layer.parameters();
      Trace trace({"q", "k", "relative"});
      const Variable out = layer.forward(Variable(x), {.relative = Variable(table), .trace = &trace});
      Tensor bias(DType::f64, {2, 2, 5, 5});
      for (std::int64_t place = 0; place < bias.size(); ++place) {
        const std::int64_t b = place / 50, h = place / 25 % 2, i = place / 5 % 5, j = place % 5;
        const std::int64_t row = relative_row(relative, i - j);
        double sum = 0;
        for (std::int64_t d = 0; d < kWidth / 2; ++d) {
          const std::int64_t out_row = h * kWidth / 2 + d;
          if (of_queries) {
            sum += trace["q"].at({b, h, i, d}) * element(all, has_maps ? "relative_k" : "k", table, row, out_row);
          }
          if (of_keys) {
            sum += trace["k"].at({b, h, j, d}) * element(all, has_maps ? "relative_q" : "q", table, row, out_row);
          }
        }
        bias.set({b, h, i, j}, 0.3 * sum);
      }
      expect_close(trace["relative"], bias, 1e-12);
      MultiHeadAttention plain({.d_model = kWidth, .heads = 2, .scale = 0.3}, Init::undrawn(), DType::f64);
      for (const Parameter& parameter : plain.parameters()) {
        assign(plain.parameters(), parameter.name, value_of(all, parameter.name));
      }
      expect_close(out, plain.forward(Variable(x), {.attention = {.bias = dense_bias(bias)}}).value(), 1e-12);
    }
  }
}

TEST(RelativeScores, AreThereForOneToken) {
  const MultiHeadAttention layer = made({.span = 3});
  Trace trace({"relative"});
  static_cast<void>(layer.forward(Variable(normal({1, 1, kWidth}, 1)),
                                  {.relative = Variable(normal({6, kWidth}, 2)), .trace = &trace}));
  EXPECT_EQ(trace["relative"].shape(), (Shape{1, 2, 1, 1}));
}

TEST(RelativeScores, HaveTheGradientOfCentralDifferences) {
  const MultiHeadAttention layer = made({.span = 4, .buckets = 4, .longest = 6, .has_maps = true});
  const Operation operation = [&](const std::vector<Variable>& inputs) {
    return layer.forward(inputs[0], {.relative = inputs[1]});
  };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 6, kWidth}), normal_numbers(2, {8, kWidth})}),
              IsEmpty());
}

TEST(RelativeScores, NameWhatDoesNotFit) {
  const MultiHeadAttention layer = made({.span = 3});
  const Variable x(normal({1, 5, kWidth}, 1));
  EXPECT_EQ(message_of([&] { (void)layer.forward(x); }),
            "MultiHeadAttention: relative: expected a table [6, 8], and no cache, got none");
  EXPECT_EQ(message_of([&] { (void)layer.forward(x, {.relative = Variable(normal({5, kWidth}, 2))}); }),
            "MultiHeadAttention: relative: expected a table [6, 8], and no cache, got [5, 8]");
  EXPECT_EQ(message_of([&] { (void)made({.span = -1}); }),
            "MultiHeadAttention: relative.span: expected from 0 to 2^24, got -1");
  EXPECT_EQ(message_of([&] { (void)made({.span = 8, .buckets = 8, .longest = 5}); }),
            "MultiHeadAttention: relative.longest: expected more than half of the buckets and one, got 5");
  EXPECT_EQ(
      message_of([&] {
        (void)MultiHeadAttention({.d_model = kWidth, .heads = 2, .kv_heads = 1, .relative = {.span = 2}},
                                 Init::undrawn());
      }),
      "MultiHeadAttention: relative: expected self-attention with as many heads of keys as of queries, got another");
  EXPECT_EQ(message_of([&] {
              (void)scores_of_distances(Variable(normal({1, 2, 3, 4}, 1)), Variable(normal({1, 2, 4, 4}, 1)));
            }),
            "scores_of_distances: rows: expected [1, 2, 5, 4], got [1, 2, 4, 4]");
}

}  // namespace
}  // namespace qkv::nn::relative_scores_test
