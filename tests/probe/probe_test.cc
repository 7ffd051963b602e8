// Tiles, rows and lse of a probe; what it refuses.
#include "qkv/probe.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "attention/fused_call.h"
#include "core/error_message.h"
#include "mask/random_mask.h"
#include "probe/probe_sample.h"
#include "qkv/targets.h"

namespace qkv::testing_probe::probe_test {
namespace {

using mask_test::any_in;
using testing::Each;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tile any_tile(const HeadPlace& head, const MaskShape& shape) {
  Tile tile = {.b = head.b, .h = head.h};
  tile.i_begin = any_in(0, shape.Tq);
  tile.i_end = any_in(tile.i_begin, shape.Tq);
  tile.j_begin = any_in(0, shape.Tk);
  tile.j_end = any_in(tile.j_begin, shape.Tk);
  return tile;
}

Tensor part_of(const Tensor& matrix, const Tile& tile) {
  return Tensor(matrix.view().slice(0, tile.i_begin, tile.i_end).slice(1, tile.j_begin, tile.j_end));
}

RC_GTEST_PROP(ProbeTiles, AreThoseOfTheReference, ()) {
  const Sample sample = any_sample(any_dtype(), false);
  const HeadPlace head = sample.any_head();
  const Tile place = any_tile(head, sample.shape());
  const auto stage = static_cast<Stage>(any_in(0, kStages - 1));
  const Tensor tile = sample.probe().tile(place, stage);
  const Tensor expected = part_of(sample.stage(head, stage), place);
  const bool reference = attention_target(sample.q.dtype(), sample.options) == "reference";
  RC_ASSERT(tile.dtype() == (reference ? DType::f64 : DType::f32));
  RC_ASSERT(tile.shape() == expected.shape());
  const Bounds bounds = bounds_of(sample);
  const std::vector<double> got = tile.to_vector();
  const std::vector<double> wanted = expected.to_vector();
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (stage <= Stage::masked) {
      RC_ASSERT(close(got[n], wanted[n], bounds.score));
    } else {
      RC_ASSERT(close(got[n], wanted[n], 2 * bounds.least, 2 * bounds.weight));
    }
  }
}

RC_GTEST_PROP(ProbeTiles, OfScoresInF64AreTheReferencesBits, ()) {
  const Sample sample = any_sample(DType::f64, false);
  const HeadPlace head = sample.any_head();
  const Tile place = any_tile(head, sample.shape());
  const auto stage = static_cast<Stage>(any_in(0, static_cast<int>(Stage::masked)));
  RC_ASSERT(sample.probe().tile(place, stage).to_vector() == part_of(sample.stage(head, stage), place).to_vector());
}

RC_GTEST_PROP(ProbeTiles, DoNotDependOnWhereTheyAreCut, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const HeadPlace head = sample.any_head();
  const Probe probe = sample.probe();
  const auto [B, H, Tq, Tk] = sample.shape();
  const Tile place = any_tile(head, sample.shape());
  const auto stage = static_cast<Stage>(any_in(0, kStages - 1));
  const Tensor whole = probe.tile({head.b, head.h, 0, Tq, 0, Tk}, stage);
  RC_ASSERT(probe.tile(place, stage).to_vector() == part_of(whole, place).to_vector());
  const std::int64_t i = any_in(0, Tq - 1);
  RC_ASSERT(probe.row(head, i, stage).to_vector() == Tensor(whole.view().select(0, i)).to_vector());
}

RC_GTEST_PROP(ProbeLse, IsThatOfAttention, ()) {
  const Sample sample = any_sample(any_dtype(), false);
  const HeadPlace head = sample.any_head();
  const Sample wide{.q = sample.q.to(DType::f64), .k = sample.k.to(DType::f64), .options = sample.options};
  const Tensor all = attention(wide.q, wide.k, wide.k, wide.options).lse;
  const std::vector<double> expected = Tensor(all.view().select(0, head.b).select(0, head.h)).to_vector();
  const std::vector<double> lse = sample.probe().lse(head).to_vector();
  const Bounds bounds = bounds_of(sample);
  RC_ASSERT(lse.size() == expected.size());
  for (std::size_t i = 0; i < lse.size(); ++i) {
    RC_ASSERT(close(lse[i], expected[i], 2 * bounds.weight, 0x1p-50));
  }
}

// Two heads of five queries and seven keys.
struct Small {
  Tensor q = Generator(1).randn({1, 2, 5, 4});
  Tensor k = Generator(2).randn({1, 1, 7, 4});
  AttentionOptions options = {.mask = causal()};

  [[nodiscard]] Probe probe() const { return {q, k, options}; }
};

TEST(ProbeLse, IsTakenWhereItIsGiven) {
  const Small small;
  Tensor lse = attention(small.q, small.k, small.k, small.options).lse;
  const Probe given(small.q, small.k, small.options, lse);
  const Tensor before = given.row({0, 1}, 3);
  EXPECT_EQ(given.lse({0, 1}).at({3}), lse.at({0, 1, 3}));
  lse.set({0, 1, 3}, lse.at({0, 1, 3}) + std::numbers::ln2);  // it is a view of the caller's
  const Tensor after = given.row({0, 1}, 3);
  for (std::int64_t j = 0; j < 6; ++j) EXPECT_NEAR(after.at({j}), before.at({j}) / 2, 0x1p-22 * before.at({j}));
}

TEST(ProbeLse, CountsASinkAsAttentionDoes) {
  Small small;
  small.options.sinks = {1.0, 3.0};
  const Tensor lse = attention(small.q, small.k, small.k, small.options).lse;
  EXPECT_NEAR(small.probe().lse({0, 1}).at({4}), lse.at({0, 1, 4}), 4 * 0x1p-24 * std::fabs(lse.at({0, 1, 4})));
}

TEST(Probe, TakesAnyStrides) {
  const Small small;
  const Tensor q(small.q.view().transpose(1, 3));
  const Tensor k(small.k.view().transpose(2, 3));
  const Probe strided(q.view().transpose(1, 3), k.view().transpose(2, 3), small.options);
  const Tile all = {0, 1, 0, 5, 0, 7};
  EXPECT_EQ(strided.tile(all).to_vector(), small.probe().tile(all).to_vector());
}

TEST(Probe, OnTheReferenceTargetComputesInF64) {
  Small small;
  small.options.target = "reference";
  const Tensor row = small.probe().row({0, 1}, 4, Stage::raw);
  EXPECT_EQ(row.dtype(), DType::f64);
  const Tensor expected = attention_stage(small.q, small.k, small.options, Stage::raw);
  for (std::int64_t j = 0; j < 7; ++j) EXPECT_EQ(row.at({j}), expected.at({0, 1, 4, j}));
}

TEST(Probe, GivesARowThatSeesNothingZeros) {
  Small small;
  small.options.mask = none();
  const Probe probe = small.probe();
  EXPECT_THAT(probe.row({0, 0}, 2).to_vector(), Each(0.0));
  EXPECT_THAT(probe.lse({0, 0}).to_vector(), Each(-kInfinity));
  EXPECT_THAT(probe.row({0, 0}, 2, Stage::masked).to_vector(), Each(-kInfinity));
}

TEST(Probe, MakesARowWithAVisibleNanNan) {
  Small small;
  small.k.set({0, 0, 4, 0}, std::nan(""));  // queries 2, 3 and 4 see key 4
  const Probe probe = small.probe();
  EXPECT_FALSE(std::isnan(probe.row({0, 0}, 1).at({0})));
  const Tensor row = probe.row({0, 0}, 2);
  for (std::int64_t j = 0; j < 5; ++j) EXPECT_TRUE(std::isnan(row.at({j})));
  EXPECT_EQ(row.at({5}), 0.0);
  EXPECT_TRUE(std::isnan(probe.lse({0, 0}).at({2})));
}

TEST(Probe, MakesARowWithAVisibleInfinityNan) {
  Small small;
  small.options.bias = dense_bias(Tensor(std::vector<double>{0, 0, kInfinity, 0, 0, 0, 0}, {7}));
  const Probe probe = small.probe();
  EXPECT_TRUE(std::isnan(probe.lse({0, 0}).at({0})));
  EXPECT_TRUE(std::isnan(probe.row({0, 0}, 0).at({0})));
  EXPECT_EQ(probe.row({0, 0}, 0).at({6}), 0.0);
}

TEST(Probe, WeighsByWhateverLseIsGiven) {
  Small small;
  for (const std::string& target : testing_attention::fused_targets()) {
    SCOPED_TRACE(target);
    small.options.target = target;
    Tensor lse(DType::f64, {1, 2, 5});
    const auto weight = [&](double value) {
      lse.set({0, 1, 3}, value);
      return Probe(small.q, small.k, small.options, lse).row({0, 1}, 3).at({0});
    };
    EXPECT_EQ(weight(-0x1p60), kInfinity);
    EXPECT_EQ(weight(-200), kInfinity);
    EXPECT_EQ(weight(200), 0.0);
    EXPECT_EQ(weight(0x1p60), 0.0);
    EXPECT_EQ(weight(-kInfinity), 0.0);
    EXPECT_TRUE(std::isnan(weight(kNan)));
    lse.set({0, 1, 3}, kNan);
    EXPECT_EQ(Probe(small.q, small.k, small.options, lse).row({0, 1}, 3).at({6}), 0.0);  // hidden
  }
}

TEST(Probe, OfNoKeysOrQueriesIsEmpty) {
  const Tensor three(DType::f32, {1, 1, 3, 2});
  const Tensor none(DType::f32, {1, 1, 0, 2});
  const Probe no_keys(three, none);
  EXPECT_THAT(no_keys.lse({}).to_vector(), Each(-kInfinity));
  EXPECT_EQ(no_keys.row({}, 0).shape(), Shape({0}));
  EXPECT_EQ(no_keys.key_totals({}).shape(), Shape({0}));
  const Probe no_queries(none, three);
  EXPECT_EQ(no_queries.lse({}).shape(), Shape({0}));
  EXPECT_THAT(no_queries.key_totals({}).to_vector(), Each(0.0));
}

TEST(ProbeErrors, NameWhatIsWrongWithTheCall) {
  const Small small;
  const auto message = [&](const TensorView& lse) {
    return error_message([&] { const Probe probe(small.q, small.k, small.options, lse); });
  };
  EXPECT_EQ(message(Tensor(DType::f32, {1, 2, 7})), "Probe: lse: expected [1, 2, 5], [B, Hq, Tq], got [1, 2, 7]");
  EXPECT_EQ(message(Tensor(DType::f16, {1, 2, 5})), "Probe: lse: expected f32 or f64, got f16");
  EXPECT_EQ(error_message([&] { const Probe probe(small.q, Tensor(DType::f64, {1, 1, 7, 4})); }),
            "Probe: k: expected f32 as q, got f64");
  AttentionOptions ragged;
  ragged.ragged = Ragged{.q_offsets = {0, 5}, .k_offsets = {0, 7}};
  EXPECT_EQ(error_message([&] { const Probe probe(small.q, small.k, ragged); }),
            "Probe: ragged: expected none: ask for each document by itself, got one");
}

// Where dropout has set a weight of a NaN row to 0, the row is NaN all the same.
TEST(ProbeRows, StayNanWhereAWeightIsDropped) {
  const Tensor q(std::vector<float>{1, NAN, 2}, {1, 1, 3, 1});
  const Tensor k = Generator(2).randn({1, 1, 8, 1});
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.compiled || !target.runs_here) continue;
    const AttentionOptions options = {
        .mask = prefix(7), .dropout = Dropout{.p = 0.5, .seed = 1}, .target = target.name};
    const std::vector<double> row = Probe(q, k, options).row({}, 1, Stage::dropped).to_vector();
    for (std::size_t j = 0; j < 7; ++j) EXPECT_TRUE(std::isnan(row[j])) << target.name << ", key " << j;
    EXPECT_EQ(row[7], 0) << target.name;  // hidden
  }
}

TEST(ProbeErrors, NameAPlaceOutside) {
  const Small small;
  const Probe probe = small.probe();
  const auto tile = [&](const Tile& place) { return error_message([&] { static_cast<void>(probe.tile(place)); }); };
  EXPECT_EQ(tile({0, 2, 0, 1, 0, 1}), "Probe::tile: h: expected 0 to 1, got 2");
  EXPECT_EQ(tile({1, 0, 0, 1, 0, 1}), "Probe::tile: b: expected 0 to 0, got 1");
  EXPECT_EQ(tile({0, 0, 2, 6, 0, 1}), "Probe::tile: i_begin, i_end: expected a range within [0, 5], got 2 to 6");
  EXPECT_EQ(tile({0, 0, 0, 1, 3, 2}), "Probe::tile: j_begin, j_end: expected a range within [0, 7], got 3 to 2");
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.row({}, 5)); }), "Probe::row: i: expected 0 to 4, got 5");
  EXPECT_EQ(error_message([&] { static_cast<void>(probe.lse({0, -1})); }), "Probe::lse: h: expected 0 to 1, got -1");
}

}  // namespace
}  // namespace qkv::testing_probe::probe_test
