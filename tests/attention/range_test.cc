// Biases, scales and lse beyond the range of f32: one answer on every target.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/fused_targets.h"
#include "qkv/backward.h"
#include "qkv/gradient_probe.h"
#include "qkv/probe.h"

namespace qkv::testing_attention::range_test {
namespace {

using testing::Each;
using testing::IsNan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowest = std::numeric_limits<float>::lowest();
constexpr double kLowestDouble = std::numeric_limits<double>::lowest();

std::vector<std::string> all_targets() {
  std::vector<std::string> targets = fused_targets();
  targets.insert(targets.begin(), "reference");
  return targets;
}

Tensor counted(const Shape& shape, double start) {
  Tensor tensor(DType::f64, shape);
  for (double& element : tensor.values<double>()) element = std::sin(start += 1);
  return tensor;
}

// Row 0 of [2, 3] holds `first`, row 1 zeros.
Tensor row(const std::array<double, 3>& first) {
  return Tensor(std::vector<double>{first[0], first[1], first[2], 0, 0, 0}, {2, 3});
}

struct Answer {
  AttentionResult result;
  AttentionGradients gradients;
};

// Two queries, three keys, D = 4, Dv = 2.
class Range : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Answer ask(AttentionOptions options, DType dtype = DType::f32) const {
    options.target = GetParam();
    const Tensor q = counted({1, 1, 2, 4}, 0).to(dtype);
    const Tensor k = counted({1, 1, 3, 4}, 10).to(dtype);
    const Tensor v = values.to(dtype);
    const Tensor d_out(std::vector<double>{1, 1, 1, 1}, {1, 1, 2, 2});
    AttentionResult result = attention(q, k, v, options);
    AttentionGradients gradients = attention_backward(d_out.to(dtype), q, k, v, result.out, result.lse, options);
    return {.result = std::move(result), .gradients = std::move(gradients)};
  }

  // Row 0 sees nothing: zeros, and d_v is that of row 1 alone.
  void expect_first_row_sees_nothing(const Bias& bias, const Bias& rest = {}) const {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", " + bias.to_string());
      const Answer answer = ask({.bias = bias + rest}, dtype);
      const Answer masked = ask({.bias = rest, .mask = first_row_hidden()}, dtype);
      EXPECT_THAT(answer.result.out.view().select(2, 0).to_vector(), Each(0.0));
      EXPECT_EQ(answer.result.lse.at({0, 0, 0}), -kInfinity);
      const double unit = dtype == DType::f32 ? 0x1p-20 : dtype == DType::f16 ? 0x1p-8 : 0x1p-5;
      expect_near(answer.result.out, masked.result.out, unit);
      expect_near(answer.gradients.d_q, masked.gradients.d_q, unit);
      expect_near(answer.gradients.d_k, masked.gradients.d_k, unit);
      expect_near(answer.gradients.d_v, masked.gradients.d_v, unit);
      for (const Tensor& d_bias : answer.gradients.d_bias) {
        if (d_bias.rank() != 2) continue;
        EXPECT_THAT(d_bias.view().select(0, 0).to_vector(), Each(0.0));
      }
    }
  }

  static void expect_near(const Tensor& got, const Tensor& expected, double bound) {
    EXPECT_THAT(got.to_vector(), testing::Pointwise(testing::DoubleNear(bound), expected.to_vector()));
  }

  static Mask first_row_hidden() { return dense(Tensor(std::vector<double>{0, 0, 0, 1, 1, 1}, {2, 3}).to(DType::b8)); }

  Tensor values = counted({1, 1, 3, 2}, 20);
};

INSTANTIATE_TEST_SUITE_P(Targets, Range, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(Range, ABiasBelowTheLowestFloatForbids) {
  const Bias lowest = dense_bias(row({kLowest, kLowest, kLowest}).to(DType::f32));
  expect_first_row_sees_nothing(lowest + lowest);
  expect_first_row_sees_nothing(lowest + lowest, alibi({0.5}));
  expect_first_row_sees_nothing(dense_bias(row({-1e39, -1e300, kLowestDouble})));
  const Bias lowest_double = dense_bias(row({kLowestDouble, kLowestDouble, kLowestDouble}));
  expect_first_row_sees_nothing(lowest_double + lowest_double);
  expect_first_row_sees_nothing(lowest_double + dense_bias(row({1, kLowest, 3})));
}

// A sum is what counts, not its terms.
TEST_P(Range, TermsAreAddedFirst) {
  const Bias far = dense_bias(row({-1e300, -1e300, -1e300})) + dense_bias(row({1e300, 1e300, 1e300}));
  const Answer answer = ask({.bias = far});
  const Answer plain = ask({});
  expect_near(answer.result.out, plain.result.out, 1e-6);
  expect_near(answer.result.lse, plain.result.lse, 1e-6);
}

// Scores are lost beside it, and all keys are alike.
TEST_P(Range, TheLowestFloatOnAllKeysIsTheMean) {
  const Answer answer = ask({.bias = dense_bias(row({kLowest, kLowest, kLowest}).to(DType::f32))});
  for (std::int64_t d = 0; d < 2; ++d) {
    double mean = 0;
    for (std::int64_t j = 0; j < 3; ++j) mean += values.at({0, 0, j, d}) / 3;
    EXPECT_NEAR(answer.result.out.at({0, 0, 0, d}), mean, 1e-6);
  }
  EXPECT_EQ(answer.result.lse.at({0, 0, 0}), kLowest);
  const Answer masked = ask({.mask = first_row_hidden()});
  for (std::int64_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(answer.gradients.d_v.at({0, 0, j, 0}), masked.gradients.d_v.at({0, 0, j, 0}) + 1.0 / 3, 1e-6);
  }
}

// Beside 1e18 scores are lost in f64, too, and with them the logarithm of their sum: what is recomputed from lse must
// not need it.
TEST_P(Range, FarBiasesOnAllKeysLeaveWeightsAndGradients) {
  for (const double far : {-1e18, 1e18, kLowest}) {
    SCOPED_TRACE(far);
    AttentionOptions options = {.bias = dense_bias(row({far, far, far}).to(DType::f32))};
    const Answer answer = ask(options);
    options.target = GetParam();
    const Tensor q = counted({1, 1, 2, 4}, 0).to(DType::f32);
    const Tensor k = counted({1, 1, 3, 4}, 10).to(DType::f32);
    for (const Probe& probe : {Probe(q, k, options), Probe(q, k, options, answer.result.lse)}) {
      EXPECT_THAT(probe.row({}, 0).to_vector(), Each(testing::DoubleNear(1.0 / 3, 1e-6)));
      const RowStatistics rows = probe.statistics({});
      EXPECT_NEAR(rows.mass.at({0}), 1, 1e-6);
      EXPECT_NEAR(rows.entropy.at({0}), std::log(3), 1e-6);
    }
    std::array<double, 3> d_weights{};
    for (std::int64_t j = 0; j < 3; ++j)
      d_weights[static_cast<std::size_t>(j)] = values.at({0, 0, j, 0}) + values.at({0, 0, j, 1});
    const double mean = (d_weights[0] + d_weights[1] + d_weights[2]) / 3;
    const Tensor ones = Tensor(std::vector<double>(4, 1), {1, 1, 2, 2}).to(DType::f32);
    const Tensor v = values.to(DType::f32);
    const GradientProbe gradients(ones, q, k, v, answer.result.out, answer.result.lse, options);
    const Tensor d_scores = gradients.tile({.i_begin = 0, .i_end = 1, .j_begin = 0, .j_end = 3}, Stage::biased);
    for (std::int64_t j = 0; j < 3; ++j) {
      const double wanted = (d_weights[static_cast<std::size_t>(j)] - mean) / 3;
      EXPECT_NEAR(answer.gradients.d_bias[0].at({0, j}), wanted, 1e-6);
      EXPECT_NEAR(d_scores.at({0, j}), wanted, 1e-6);
    }
  }
}

TEST_P(Range, ASinkAmongFarBiasesHasItsShare) {
  const Answer answer = ask({.bias = dense_bias(row({kLowest, kLowest, kLowest}).to(DType::f32)), .sinks = {kLowest}});
  // Weights of a fourth; out = the sum of v over 4, and d_out is 1: d_sink = -w (d_out . out).
  double out = 0;
  for (std::int64_t j = 0; j < 3; ++j) out += (values.at({0, 0, j, 0}) + values.at({0, 0, j, 1})) / 4;
  EXPECT_NEAR(answer.gradients.d_sinks.at({0}), -out / 4, 1e-6);
}

TEST_P(Range, ABiasAboveTheHighestFloatIsInfinite) {
  const Answer answer = ask({.bias = dense_bias(row({0, 1e39, 0}))});
  EXPECT_THAT(answer.result.out.view().select(2, 0).to_vector(), Each(IsNan()));
  EXPECT_THAT(answer.result.lse.at({0, 0, 0}), IsNan());
  EXPECT_TRUE(std::isfinite(answer.result.out.at({0, 0, 1, 0})));
}

TEST_P(Range, ASinkStandsAlone) {
  const Answer answer = ask({.bias = dense_bias(row({-1e300, -1e300, -1e300})), .sinks = {0.5}});
  EXPECT_THAT(answer.result.out.view().select(2, 0).to_vector(), Each(0.0));
  EXPECT_EQ(answer.result.lse.at({0, 0, 0}), 0.5);
}

TEST_P(Range, ASoftcapComesBefore) {
  const Answer answer = ask({.softcap = 2.0, .bias = dense_bias(row({-1e300, 0, -1e300}))});
  EXPECT_NEAR(answer.result.out.at({0, 0, 0, 0}), values.at({0, 0, 1, 0}), 1e-7);
}

// One key takes all of the weight; lse is beyond f32 and says that the row sees something.
TEST_P(Range, AScaleBeyondF32GivesOneKeyAllOfTheWeight) {
  for (const double scale : {3e38, 1e39, -1e39, 1e300}) {
    SCOPED_TRACE(scale);
    const Answer answer = ask({.scale = scale});
    for (const double lse : answer.result.lse.to_vector()) EXPECT_TRUE(std::isfinite(lse)) << lse;
    EXPECT_THAT(answer.gradients.d_q.to_vector(), Each(0.0));
    EXPECT_THAT(answer.gradients.d_k.to_vector(), Each(0.0));
    double sum = 0;
    for (const double element : answer.gradients.d_v.to_vector()) sum += element;
    EXPECT_NEAR(sum, 4, 1e-6);
  }
}

// f64 holds them all, and has one target.
TEST(RangeOfF64, ABiasFarBelowIsANumber) {
  const Tensor q = counted({1, 1, 2, 4}, 0);
  const Tensor k = counted({1, 1, 3, 4}, 10);
  const Tensor v = counted({1, 1, 3, 2}, 20);
  const AttentionOptions options = {.bias = dense_bias(row({-1e300, -1e300, -1e300}))};
  const AttentionResult result = attention(q, k, v, options);
  EXPECT_EQ(result.lse.at({0, 0, 0}), -1e300);
  EXPECT_NEAR(result.out.at({0, 0, 0, 0}), (v.at({0, 0, 0, 0}) + v.at({0, 0, 1, 0}) + v.at({0, 0, 2, 0})) / 3, 1e-15);
  const Tensor d_out(std::vector<double>{1, 1, 0, 0}, {1, 1, 2, 2});
  const AttentionGradients gradients = attention_backward(d_out, q, k, v, result.out, result.lse, options);
  for (const double element : gradients.d_v.to_vector()) EXPECT_NEAR(element, 1.0 / 3, 1e-15);
}

}  // namespace
}  // namespace qkv::testing_attention::range_test
