// Tiles of the gradients of the T x T matrices.
#include "qkv/gradient_probe.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "core/error_message.h"
#include "qkv/backward.h"

namespace qkv::testing_attention::gradient_probe_test {
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

// A map from the whole matrix of each head.
CellMaps mapped(const GradientProbe& probe, const std::vector<std::int64_t>& heads, const MapSize& size, Stage stage,
                const Mask& mask) {
  const Shape cells{1, size.rows, size.columns};
  CellMaps map{
      .mean = Tensor(DType::f64, cells), .largest = Tensor(DType::f64, cells), .visible = Tensor(DType::f64, cells)};
  const auto count = static_cast<double>(heads.size());
  std::vector<Tensor> matrices;
  for (const std::int64_t h : heads) {
    Tile tile = kLastHead;
    tile.h = h;
    matrices.push_back(probe.tile(tile, stage));
  }
  for (std::int64_t r = 0; r < size.rows; ++r) {
    for (std::int64_t c = 0; c < size.columns; ++c) {
      double sum = 0;
      double largest = 0;
      double visible = 0;
      std::int64_t pairs = 0;
      for (std::int64_t i = r * kTq / size.rows; i < (r + 1) * kTq / size.rows; ++i) {
        for (std::int64_t j = c * kTk / size.columns; j < (c + 1) * kTk / size.columns; ++j, ++pairs) {
          double mean = 0;
          for (const Tensor& matrix : matrices) mean += std::fabs(matrix.at({i, j})) / count;
          sum += mean;
          largest = std::max(largest, mean);
          visible += mask.allows({.b = 1, .h = 0, .i = i, .j = j}, probe.shape()) ? 1 : 0;
        }
      }
      map.mean.set({0, r, c}, sum / static_cast<double>(pairs));
      map.largest.set({0, r, c}, largest);
      map.visible.set({0, r, c}, visible / static_cast<double>(pairs));
    }
  }
  return map;
}

TEST(GradientProbe, ShrinksTheMatrixOfMagnitudesToAMap) {
  for (const auto& [dtype, target] : {std::pair(DType::f64, "reference"), std::pair(DType::bf16, "scalar")}) {
    Sample sample(dtype);
    sample.run(target);
    const GradientProbe probe = sample.probe();
    // A sum of numbers of one sign, in f32 within a tile.
    const double rounding = dtype == DType::f64 ? 4000 * 0x1p-53 : 80 * 0x1p-24;
    for (const MapSize& size : {MapSize{7, 13}, MapSize{kTq, kTk}, MapSize{1, 1}}) {
      for (const Stage stage : {Stage::weights, Stage::biased}) {
        const CellMaps map = probe.map({.b = 1, .heads = {1, 0}, .size = size, .of = MapOf::mean}, stage);
        const CellMaps expected = mapped(probe, {1, 0}, size, stage, sample.options.mask);
        for (std::int64_t r = 0; r < size.rows; ++r) {
          for (std::int64_t c = 0; c < size.columns; ++c) {
            for (Tensor CellMaps::* part : {&CellMaps::mean, &CellMaps::largest}) {
              const double magnitude = (expected.*part).at({0, r, c});
              ASSERT_NEAR((map.*part).at({0, r, c}), magnitude, rounding * magnitude);
            }
            ASSERT_NEAR(map.visible.at({0, r, c}), expected.visible.at({0, r, c}), 1e-12);
          }
        }
      }
    }
  }
}

TEST(GradientProbe, MapsARectangleOfEachHead) {
  Sample sample(DType::f64);
  sample.run("reference");
  const GradientProbe probe = sample.probe();
  const MapArea area = {60, 69, 61, 130};
  const CellMaps map = probe.map({.b = 1, .size = {9, 69}, .area = area});
  for (std::int64_t h = 0; h < 2; ++h) {
    const Tensor tile = probe.tile({1, h, area.i_begin, area.i_end, area.j_begin, area.j_end});
    for (std::int64_t i = 0; i < 9; ++i) {
      for (std::int64_t j = 0; j < 69; ++j) {
        ASSERT_EQ(map.mean.at({h, i, j}), std::fabs(tile.at({i, j})));
        ASSERT_EQ(map.largest.at({h, i, j}), std::fabs(tile.at({i, j})));
      }
    }
  }
}

TEST(GradientProbe, MapsTheSameOnAnyNumberOfThreadsAndSaysHowFarItIs) {
  Sample sample(DType::f32);
  sample.options.threads = 1;
  sample.run("scalar");
  const GradientProbe one = sample.probe();
  sample.options.threads = 3;
  std::int64_t done = 0;
  std::int64_t total = 0;
  const ProbeWatch watch = [&](const ProbeProgress& at) {
    done = at.done;
    total = at.total;
    return Proceed::go_on;
  };
  const MapRequest request = {.b = 1, .heads = {1}, .size = {5, 5}};
  EXPECT_EQ(sample.probe().map(request, Stage::biased, watch).mean.to_vector(), one.map(request).mean.to_vector());
  EXPECT_EQ(done, total);
  EXPECT_GT(total, 0);
  EXPECT_EQ(error_message<Cancelled>(
                [&] { static_cast<void>(one.map(request, Stage::biased, [](const auto&) { return Proceed::stop; })); }),
            "the walk over the tiles was stopped");
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
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.map({.heads = {2}, .size = {1, 1}})); }),
            "GradientProbe::map: h: expected 0 to 1, got 2");
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.map({.size = {1, kTk + 1}})); }),
            "GradientProbe::map: size.columns: expected 1 to Tk = 130, got 131");
  sample.d_lse = Tensor(DType::f64, {2, 2, kTq});
  EXPECT_EQ(error_message([&] { static_cast<void>(sample.probe()); }), "GradientProbe: d_lse: expected f32, got f64");
}

}  // namespace
}  // namespace qkv::testing_attention::gradient_probe_test
