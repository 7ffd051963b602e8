// Tiles of the gradients of the T x T matrices.
#include "qkv/gradient_probe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "core/error_message.h"
#include "qkv/backward.h"

namespace qkv::testing_attention {
namespace {

using testing::Each;

constexpr std::int64_t kTq = 70;
constexpr std::int64_t kTk = 130;

// Two tiles of queries and three of keys, with every option.
struct Sample {
  explicit Sample(DType dtype) {
    Generator random(7);
    const auto draw = [&](const Shape& shape) { return random.randn(shape, DType::f64).to(dtype); };
    q = draw({2, 2, kTq, 5});
    k = draw({2, 1, kTk, 5});
    v = draw({2, 1, kTk, 3});
    d_out = draw({2, 2, kTq, 3});
    bias = draw({2, 2, kTq, kTk});
    options = {.softcap = 2.0,
               .bias = alibi() + dense_bias(bias),
               .mask = causal() | prefix(9),
               .dropout = Dropout{.p = 0.25, .seed = 5},
               .sinks = {0.5, -1}};
  }

  void run(std::string_view target) {
    options.target = target;
    result = attention(q, k, v, options);
    d_lse = Generator(8).randn(result.lse.shape(), DType::f64).to(result.lse.dtype());
  }

  [[nodiscard]] GradientProbe probe() const { return {d_out, q, k, v, result.out, result.lse, options, d_lse}; }
  [[nodiscard]] AttentionGradients gradients() const {
    return attention_backward(d_out, q, k, v, result.out, result.lse, options, {.d_lse = d_lse});
  }

  Tensor q;
  Tensor k;
  Tensor v;
  Tensor d_out;
  Tensor bias;
  AttentionOptions options;
  AttentionResult result;
  Tensor d_lse;
};

const Tile kLastHead = {.b = 1, .h = 1, .i_begin = 0, .i_end = kTq, .j_begin = 0, .j_end = kTk};

TEST(GradientProbe, ShowsTheGradientOfADenseBias) {
  Sample sample(DType::f64);
  sample.run("reference");
  const Tensor expected(sample.gradients().d_bias[1].view().select(0, 1).select(0, 1));
  const GradientProbe probe = sample.probe();
  for (const Stage stage : {Stage::masked, Stage::biased, Stage::softcapped}) {
    // Below 20: two roundings of exp and a handful of the difference.
    EXPECT_LE(largest_difference(probe.tile(kLastHead, stage), expected), 16 * 20 * 0x1p-53);
  }
}

TEST(GradientProbe, PassesOnToTheProducts) {
  Sample sample(DType::f64);
  sample.run("reference");
  const Tensor raw = sample.probe().tile(kLastHead, Stage::raw);
  const Tensor scaled = sample.probe().tile(kLastHead, Stage::scaled);
  const Tensor d_q = sample.gradients().d_q;
  for (std::int64_t i = 0; i < kTq; ++i) {
    for (std::int64_t d = 0; d < 5; ++d) {
      double sum = 0;
      for (std::int64_t j = 0; j < kTk; ++j) sum += raw.at({i, j}) * sample.k.at({1, 0, j, d});
      EXPECT_NEAR(sum, d_q.at({1, 1, i, d}), 64 * kTk * 0x1p-53);
    }
    EXPECT_DOUBLE_EQ(raw.at({i, 3}), scaled.at({i, 3}) / std::sqrt(5.0));
  }
}

TEST(GradientProbe, ShowsWhatComesThroughTheValues) {
  Sample sample(DType::f64);
  sample.run("reference");
  const Tensor dropped = sample.probe().tile(kLastHead, Stage::dropped);
  const Tensor weights = sample.probe().tile(kLastHead, Stage::weights);
  const MaskShape shape = sample.probe().shape();
  for (std::int64_t i = 0; i < kTq; ++i) {
    for (std::int64_t j = 0; j < kTk; ++j) {
      const Place place = {.b = 1, .h = 1, .i = i, .j = j};
      double expected = 0;
      for (std::int64_t d = 0; d < 3; ++d) expected += sample.d_out.at({1, 1, i, d}) * sample.v.at({1, 0, j, d});
      if (!sample.options.mask.allows(place, shape)) expected = 0;
      EXPECT_EQ(dropped.at({i, j}), expected);
      EXPECT_EQ(weights.at({i, j}), dropout_keeps(5, 0.25, place) ? expected / 0.75 : 0);
    }
  }
}

TEST(GradientProbe, CutsTilesOutOfTheSameMatrix) {
  for (const std::string& target : fused_targets()) {
    Sample sample(DType::f32);
    sample.run(target);
    const GradientProbe probe = sample.probe();
    const Tensor whole = probe.tile(kLastHead);
    EXPECT_EQ(whole.dtype(), DType::f32);
    const Tile part = {.b = 1, .h = 1, .i_begin = 3, .i_end = 69, .j_begin = 60, .j_end = 129};
    EXPECT_EQ(probe.tile(part).to_vector(), whole.view().slice(0, 3, 69).slice(1, 60, 129).to_vector());
    EXPECT_EQ(probe.row({1, 1}, 66).to_vector(), whole.view().select(0, 66).to_vector());
  }
}

TEST(GradientProbe, IsNearTheReferenceOnEveryTarget) {
  for (const std::string& target : fused_targets()) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      Sample sample(dtype);
      sample.run(target);
      const GradientProbe probe = sample.probe();
      sample.options.target = "reference";
      for (const Stage stage : {Stage::dropped, Stage::weights, Stage::biased, Stage::scaled, Stage::raw}) {
        // Scores and lse below 32, products below 64: the roundings of exp's argument and of the difference.
        EXPECT_LE(largest_difference(probe.tile(kLastHead, stage), sample.probe().tile(kLastHead, stage)),
                  2 * 32 * 64 * 0x1p-24)
            << target << " " << name_of(stage);
      }
    }
  }
}

TEST(GradientProbe, HasZerosWhereAPairIsForbidden) {
  Sample sample(DType::f32);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t d = 0; d < 5; ++d) sample.k.set({1, 0, 129, d}, kNan);
  for (std::int64_t d = 0; d < 3; ++d) sample.v.set({1, 0, 129, d}, kNan);
  sample.options.mask = key_lengths({130, 129});
  sample.run("scalar");
  for (const Stage stage : {Stage::dropped, Stage::weights, Stage::biased, Stage::scaled, Stage::raw}) {
    EXPECT_THAT(sample.probe().tile(kLastHead, stage).view().select(1, 129).to_vector(), Each(0.0));
  }
}

TEST(GradientProbe, RefusesWhatLiesOutOfRange) {
  Sample sample(DType::f32);
  sample.run("scalar");
  const GradientProbe probe = sample.probe();
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.row({2, 0}, 0)); }),
            "GradientProbe::row: b: expected 0 to 1, got 2");
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.row({0, 0}, 70)); }),
            "GradientProbe::row: i: expected 0 to 69, got 70");
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.tile({.i_begin = 3, .i_end = 2})); }),
            "GradientProbe::tile: i_begin, i_end: expected a range within [0, 70], got 3 to 2");
  sample.d_lse = Tensor(DType::f64, {2, 2, kTq});
  EXPECT_EQ(error_message([&] { static_cast<void>(sample.probe()); }), "GradientProbe: d_lse: expected f32, got f64");
}

}  // namespace
}  // namespace qkv::testing_attention
