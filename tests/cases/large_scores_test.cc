// Gradients, biases' and sinks' among them, where scores are so large that an lse of 32 bits has lost what exp needs: a
// row's weights must sum to 1 in the backward pass as in the forward pass, on every target.
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "cases/rounding.h"
#include "cases/where.h"
#include "qkv/backward.h"
#include "qkv/gradient_probe.h"

namespace qkv::cases::large_scores_test {
namespace {

class LargeScores : public testing::TestWithParam<Where> {
 protected:
  struct Call {
    Tensor q;
    Tensor k;
    Tensor v;
    Tensor d_out;
    AttentionOptions options;
  };

  [[nodiscard]] static DType dtype() { return GetParam().dtype; }

  // Of 70 queries and 150 keys, so that no tile is whole, with scores of about `size`.
  static Call random_call(double size, std::int64_t D = 32) {
    Generator random(7);
    Call call = {.q = random.randn({1, 4, 70, D}, DType::f64),
                 .k = random.randn({1, 2, 150, D}, DType::f64).to(dtype()),
                 .v = random.randn({1, 2, 150, 3}, DType::f64).to(dtype()),
                 .d_out = Tensor(DType::f64, {1, 4, 70, 3}),
                 .options = {.mask = causal(), .target = GetParam().target}};
    for (double& value : call.q.values<double>()) value *= size;
    for (double& value : call.d_out.values<double>()) value = 1;
    call.q = call.q.to(dtype());
    call.d_out = call.d_out.to(dtype());
    return call;
  }

  static AttentionGradients gradients_of(const Call& call) {
    const auto [out, lse] = attention(call.q, call.k, call.v, call.options);
    return attention_backward(call.d_out, call.q, call.k, call.v, out, lse, call.options);
  }

  // Where d_out is 1, the sum of d_v over all keys is the number of queries: every row's weights sum to 1.
  static void expect_whole_rows(const Call& call) {
    const Tensor d_v = gradients_of(call).d_v;
    const std::int64_t group = call.q.dim(1) / call.k.dim(1);
    const auto queries = static_cast<double>(group * call.q.dim(2));
    for (std::int64_t h = 0; h < d_v.dim(1); ++h) {
      double sum = 0;
      for (std::int64_t j = 0; j < d_v.dim(2); ++j) sum += d_v.at({0, h, j, 0});
      // Each weight may be rounded to the type before the product, each sum after it; f32 rounds each of 150 keys'
      // sums.
      EXPECT_NEAR(sum, queries, queries * (2 * unit_of(dtype()) + 150 * 0x1p-24)) << "head " << h;
    }
  }
};

TEST_P(LargeScores, OneKeyTakesAllOfItsRow) {
  // Another key is far below: its weight is 0, the first one's 1.
  const std::vector<double> large =
      dtype() == DType::f16 ? std::vector<double>{234.5, 250.75, 1} : std::vector<double>{1234.567, 2345.678, 1};
  const auto tensor = [&](const std::vector<double>& values) {
    const auto rows = static_cast<std::int64_t>(values.size());
    return Tensor(values, {1, 1, rows, 1}).to(dtype());
  };
  const Call call = {.q = tensor({large[0]}),
                     .k = tensor({large[1], large[2]}),
                     .v = tensor({1, 2}),
                     .d_out = tensor({1}),
                     .options = {.scale = 1.0, .target = GetParam().target}};
  const AttentionGradients gradients = gradients_of(call);
  EXPECT_EQ(gradients.d_v.at({0, 0, 0, 0}), 1);
  EXPECT_EQ(gradients.d_v.at({0, 0, 1, 0}), 0);
}

TEST_P(LargeScores, WeightsOfARowSumToOne) {
  for (const double size : {1.0, 30.0, 1e3, 1e4}) expect_whole_rows(random_call(size));
  if (dtype() != DType::f16) expect_whole_rows(random_call(1e6));
}

TEST_P(LargeScores, SoDoThoseOfARowWithBiases) {
  Call call = random_call(1);
  Generator random(8);
  Tensor bias = random.randn({4, 70, 150}, DType::f64);
  for (double& value : bias.values<double>()) value = 1e5 * value - 1e6;
  call.options.bias = dense_bias(bias);
  expect_whole_rows(call);
}

TEST_P(LargeScores, SoDoThoseWhoseTermsCancel) {
  // Scores of about 1, whose terms are a thousand times as large: each product's rounding matters, and lse is small.
  Call call = random_call(1, 64);
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t i = 0; i < 70; ++i) {
      call.q.set({0, h, i, 0}, 2048);
      call.q.set({0, h, i, 63}, 2048);
    }
  }
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t j = 0; j < 150; ++j) call.k.set({0, h, j, 63}, -call.k.at({0, h, j, 0}));
  }
  expect_whole_rows(call);
}

TEST_P(LargeScores, SoftcappedOnesSumToOne) {
  Call call = random_call(1e3);
  call.options.softcap = 400.0;
  expect_whole_rows(call);
}

TEST_P(LargeScores, ASinkTakesItsShare) {
  // Scores all 0, but for a bias that lifts them to the sink's: each of 150 keys and the sink weigh the same.
  Call call = random_call(0);
  call.options.mask = {};
  call.options.sinks = {5e5, 5e5, 5e5, 5e5};
  call.options.bias = dense_bias(Tensor(std::vector<double>{5e5}, {1, 1}));
  for (std::int64_t j = 0; j < 150; ++j) {
    for (std::int64_t h = 0; h < 2; ++h) call.v.set({0, h, j, 0}, 1);
  }
  const AttentionGradients gradients = gradients_of(call);
  const double weight = 1.0 / 151;
  const double unit = unit_of(dtype());
  for (std::int64_t j = 0; j < 150; ++j) {
    EXPECT_NEAR(gradients.d_v.at({0, 1, j, 0}), 140 * weight, 140 * weight * (2 * unit + 150 * 0x1p-24));
  }
  // -w * (d_out . out) of the sink, 70 queries a head: out is the mean of the values, less the sink's share.
  double value = 0;
  for (std::int64_t j = 0; j < 150; ++j) {
    for (std::int64_t d = 0; d < 3; ++d) value += call.v.at({0, 1, j, d}) * weight;
  }
  // out is a sum of 150 values divided by one of 150 weights.
  const double of_out = 2 * unit + (2 * 150 + 16) * 0x1p-24;
  EXPECT_NEAR(gradients.d_sinks.at({3}), -70 * weight * value, 70 * weight * of_out * 3);
}

TEST_P(LargeScores, GradientsOfScoresSumToZero) {
  for (const double size : {1.0, 1e3, 1e4, 1e6}) {
    if (dtype() == DType::f16 && size > 1e4) continue;
    Call call = random_call(size);
    call.d_out = call.v.dtype() == DType::f32 ? Generator(3).randn({1, 4, 70, 3}, DType::f64).to(dtype()) : call.d_out;
    call.options.bias = dense_bias(Tensor(DType::f64, {1, 70, 1}));
    const AttentionGradients gradients = gradients_of(call);
    // A row's own number raises all of its scores: nothing follows. delta is as exact as the stored out.
    for (const double sum : gradients.d_bias[0].to_vector()) {
      EXPECT_NEAR(sum, 0, 4 * 9 * 3 * (2 * unit_of(dtype()) + 200 * 0x1p-24)) << size;
    }
  }
}

TEST_P(LargeScores, AProbeByTheirLseHasThem) {
  for (const double size : {1e3, 1e4}) {
    const Call call = random_call(size);
    const auto [out, lse] = attention(call.q, call.k, call.v, call.options);
    const Probe probe(call.q, call.k, call.options, lse);
    const std::vector<double> masses = probe.statistics({0, 3}).mass.to_vector();
    // 150 weights of f32 and their sum.
    for (const double mass : masses) EXPECT_NEAR(mass, 1, 300 * 0x1p-24);
    double sum = 0;
    for (const double weight : probe.row({0, 3}, 69).to_vector()) sum += weight;
    EXPECT_NEAR(sum, 1, 300 * 0x1p-24);
    const GradientProbe gradients(call.d_out, call.q, call.k, call.v, out, lse, call.options);
    sum = 0;
    double terms = 0;
    for (const double d_score : gradients.row({0, 3}, 69).to_vector()) {
      sum += d_score;
      terms += std::fabs(d_score);
    }
    EXPECT_NEAR(sum, 0, terms * 300 * 0x1p-24 + 9 * (2 * unit_of(dtype()) + 300 * 0x1p-24));
  }
}

// Of lse of more keys a call takes its keys' share, however large the scores are.
TEST_P(LargeScores, KeepTheShareOfSomeOfTheKeys) {
  Call call = random_call(0);
  call.options.mask = {};
  call.options.bias = dense_bias(Tensor(std::vector<double>{4000.0}, {1, 1}));
  const auto [out, lse] = attention(call.q, call.k, call.v, call.options);
  const AttentionGradients part = attention_backward(call.d_out, call.q, call.k.view().slice(2, 0, 50),
                                                     call.v.view().slice(2, 0, 50), out, lse, call.options);
  // lse is exact to half of 2^-12.
  const double expected = 140.0 / 150;
  EXPECT_NEAR(part.d_v.at({0, 0, 7, 0}), expected, expected * (0x1p-12 + 2 * unit_of(dtype())));
}

INSTANTIATE_TEST_SUITE_P(Cases, LargeScores, testing::ValuesIn(everywhere()), kName);

}  // namespace
}  // namespace qkv::cases::large_scores_test
