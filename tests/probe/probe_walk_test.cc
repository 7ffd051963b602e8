// What a probe makes of a whole head: top keys, totals and statistics.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error_message.h"
#include "mask/random_mask.h"
#include "probe/probe_sample.h"

namespace qkv::testing_probe::probe_walk_test {
namespace {

using mask_test::any_in;
using testing::ElementsAre;

// The weights of a head as the probe itself has them, in f64 [Tq, Tk]: what rounding remains is that of sums.
Tensor weights_of(const Probe& probe, const HeadPlace& head) {
  const MaskShape& shape = probe.shape();
  return probe.tile({head.b, head.h, 0, shape.Tq, 0, shape.Tk}).to(DType::f64);
}

// A sum of numbers of one sign in f32 within a tile, in f64 beyond.
double sum_bound(DType dtype) { return dtype == DType::f64 ? 4000 * 0x1p-53 : 80 * 0x1p-24; }

void assert_close(const Tensor& got, const Tensor& expected, double relative) {
  RC_ASSERT(got.shape() == expected.shape());
  const std::vector<double> left = got.to_vector();
  const std::vector<double> right = expected.to_vector();
  for (std::size_t n = 0; n < left.size(); ++n) RC_ASSERT(close(left[n], right[n], 0, relative));
}

RC_GTEST_PROP(ProbeTopKeys, AreTheFirstOfTheSortedRow, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const HeadPlace head = sample.any_head();
  const Probe probe = sample.probe();
  const auto [B, H, Tq, Tk] = sample.shape();
  const std::int64_t count = any_in(0, Tk);
  const TopKeys top = probe.top_keys(head, count);
  RC_ASSERT(top.keys.shape() == Shape({Tq, count}));
  const Tensor weights = weights_of(probe, head);
  for (std::int64_t i = 0; i < Tq; ++i) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(Tk));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](auto a, auto b) {
      const double difference = weights.at({i, a}) - weights.at({i, b});
      return difference > 0 || (difference == 0 && a < b);
    });
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t key = order[static_cast<std::size_t>(n)];
      RC_ASSERT(top.keys.at({i, n}) == static_cast<double>(key));
      RC_ASSERT(top.weights.at({i, n}) == weights.at({i, key}));
    }
  }
}

RC_GTEST_PROP(ProbeKeyTotals, AreTheSumsOfColumns, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const HeadPlace head = sample.any_head();
  const Probe probe = sample.probe();
  const Tensor weights = weights_of(probe, head);
  Tensor expected(DType::f64, {sample.shape().Tk});
  for (std::int64_t j = 0; j < sample.shape().Tk; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < sample.shape().Tq; ++i) sum += weights.at({i, j});
    expected.set({j}, sum);
  }
  assert_close(probe.key_totals(head), expected, sum_bound(sample.q.dtype()));
}

RC_GTEST_PROP(ProbeStatistics, AreThoseOfTheRows, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const HeadPlace head = sample.any_head();
  const Probe probe = sample.probe();
  const auto [B, H, Tq, Tk] = sample.shape();
  const auto align = *rc::gen::element(Align::bottom_right, Align::top_left);
  const RowStatistics rows = probe.statistics(head, align);
  const Tensor weights = sample.stage(head, Stage::weights);
  const Tensor visible = sample.visible(head);
  const Bounds bounds = bounds_of(sample);
  const double relative = 2 * bounds.weight + sum_bound(sample.q.dtype());
  for (std::int64_t i = 0; i < Tq; ++i) {
    const std::int64_t p = align == Align::top_left ? i : i + Tk - Tq;
    double seen = 0, mass = 0, entropy = 0, scale = 0, distance = 0, largest = 0;
    for (std::int64_t j = 0; j < Tk; ++j) {
      const double w = weights.at({i, j});
      seen += visible.at({i, j});
      mass += w;
      entropy -= w > 0 ? w * std::log(w) : 0;
      scale += w > 0 ? w * (std::fabs(std::log(w)) + 1) : 0;
      distance += w * static_cast<double>(std::abs(p - j));
      largest = std::max(largest, w);
    }
    const double absolute = relative * scale;
    RC_ASSERT(rows.visible.at({i}) == seen);
    RC_ASSERT(close(rows.mass.at({i}), mass, 0, relative));
    RC_ASSERT(close(rows.entropy.at({i}), entropy, absolute));
    RC_ASSERT(close(rows.normalised_entropy.at({i}), seen > 1 ? entropy / std::log(seen) : 0, 2 * absolute));
    RC_ASSERT(close(rows.distance.at({i}), distance, 0, relative));
    RC_ASSERT(close(rows.largest.at({i}), largest, 0, relative));
    RC_ASSERT(close(rows.first.at({i}), weights.at({i, 0}), bounds.least, relative));
    const bool stands = p >= 0 && p < Tk;
    RC_ASSERT(close(rows.diagonal.at({i}), stands ? weights.at({i, p}) : 0, bounds.least, relative));
  }
}

TEST(ProbeStatistics, MeansLeaveOutRowsThatSeeNothing) {
  const Tensor q = Generator(1).randn({1, 1, 4, 8});
  const Tensor k = Generator(2).randn({1, 1, 2, 8});
  const Probe probe(q, k, {.mask = causal()});  // queries 0 and 1 see nothing, query 2 one key, query 3 two
  const RowStatistics rows = probe.statistics({});
  EXPECT_THAT(rows.visible.to_vector(), ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(rows.entropy.at({0}), 0.0);
  EXPECT_EQ(rows.mean(rows.visible), 1.5);
  EXPECT_EQ(rows.mean(rows.entropy), (rows.entropy.at({2}) + rows.entropy.at({3})) / 2);
  const RowStatistics blind = Probe(q, k, {.mask = none()}).statistics({});
  EXPECT_EQ(blind.mean(blind.entropy), 0.0);
}

TEST(ProbeStatistics, EntropyCountsWeightsHoweverSmall) {
  const Tensor q(std::vector<double>{1}, {1, 1, 1, 1});
  const Tensor k(std::vector<double>{0, -300}, {1, 1, 2, 1});
  const RowStatistics rows = Probe(q, k).statistics({});
  EXPECT_NEAR(rows.entropy.at({0}) / (300 * std::exp(-300.0)), 1, 1e-12);
}

TEST(ProbeTopKeys, PutEarlierKeysOfOneWeightFirst) {
  Tensor k(DType::f32, {1, 1, 200, 1});
  for (const std::int64_t j : {3, 70, 150}) k.set({0, 0, j, 0}, 1);
  const TopKeys top = Probe(Tensor(std::vector<float>{1}, {1, 1, 1, 1}), k).top_keys({}, 100);
  std::vector<double> expected = {3, 70, 150};
  for (int j = 0; expected.size() < 100; ++j) {
    if (j != 3 && j != 70) expected.push_back(j);
  }
  EXPECT_EQ(top.keys.to_vector(), expected);
}

TEST(ProbeTopKeys, PutNanFirst) {
  const Tensor q(std::vector<float>{1, 1}, {1, 1, 1, 2});
  const Tensor k(std::vector<float>{1, 1, NAN, 1, 2, 2}, {1, 1, 3, 2});
  const TopKeys top = Probe(q, k, {.mask = prefix(2)}).top_keys({}, 3);
  EXPECT_THAT(top.keys.to_vector(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(std::isnan(top.weights.at({0, 0})));
  EXPECT_EQ(top.weights.at({0, 2}), 0.0);
}

// Everything that a walk makes, one number after another.
std::vector<double> everything(const Tensor& q, const Tensor& k, int threads) {
  const Probe probe(q, k, {.bias = alibi(), .mask = causal() & window(300), .threads = threads});
  const RowStatistics rows = probe.statistics({0, 1});
  const TopKeys top = probe.top_keys({0, 1}, 5);
  const CellMaps map = probe.map({.size = {7, 11}});
  std::vector<double> all;
  for (const Tensor* part :
       {&rows.entropy, &rows.distance, &top.keys, &top.weights, &map.mean, &map.largest, &map.visible}) {
    const std::vector<double> values = part->to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  for (const Tensor& part : {probe.key_totals({0, 1}), probe.lse({0, 1})}) {
    const std::vector<double> values = part.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(ProbeWalks, DoNotDependOnTheNumberOfThreads) {
  const Tensor q = Generator(1).randn({1, 2, 2500, 5});
  const Tensor k = Generator(2).randn({1, 1, 2500, 5});
  const std::vector<double> one = everything(q, k, 1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(everything(q, k, threads), one) << threads << " threads";
}

TEST(ProbeWalks, TellHowFarTheyAre) {
  const Tensor q = Generator(1).randn({1, 1, 1000, 4});
  const Probe probe(q, q, {.mask = causal(), .threads = 2});
  std::int64_t last = 0;
  std::int64_t total = 0;
  const ProbeWatch watch = [&](const ProbeProgress& progress) {
    EXPECT_GT(progress.done, last);
    last = progress.done;
    total = progress.total;
    return Proceed::go_on;
  };
  static_cast<void>(probe.map({.size = {10, 10}}, watch));
  EXPECT_EQ(last, total);
  EXPECT_GE(total, 1000 * 1001);  // lse and weights: half of the matrix each, and what tiles round up to
}

TEST(ProbeWalks, EndWhenToldTo) {
  const Tensor q = Generator(1).randn({1, 1, 1000, 4});
  const Probe probe(q, q);
  int calls = 0;
  const ProbeWatch watch = [&](const ProbeProgress&) { return ++calls == 3 ? Proceed::stop : Proceed::go_on; };
  EXPECT_EQ(error_message<Cancelled>([&] { static_cast<void>(probe.statistics({}, Align::bottom_right, watch)); }),
            "the walk over the tiles was stopped");
  EXPECT_EQ(calls, 3);
}

TEST(ProbeWalks, ReadNoKeyOfATileThatTheMaskHides) {
  const Tensor q = Generator(1).randn({1, 1, 256, 4});
  std::int64_t asked = 0;
  const Mask mask = causal() & predicate("counts", [&](const Place& place, const MaskShape&) {
                      asked += place.j > 0 ? 1 : 0;
                      return true;
                    });
  const Probe probe(q, q, {.mask = window(64) & mask, .threads = 1});
  static_cast<void>(probe.lse({}));
  EXPECT_LE(asked, 7 * 64 * 64);  // the diagonal tiles and those beside them, of 16
}

TEST(ProbeErrors, NameWhatAWalkCannotDo) {
  const Tensor q = Generator(1).randn({1, 2, 5, 4});
  const Probe probe(q, q);
  const auto message = [](const auto& call) { return error_message([&] { static_cast<void>(call()); }); };
  EXPECT_EQ(message([&] { return probe.map({.size = {6, 5}}); }), "Probe::map: size.rows: expected 1 to Tq = 5, got 6");
  EXPECT_EQ(message([&] { return probe.map({.size = {5, 0}}); }),
            "Probe::map: size.columns: expected 1 to Tk = 5, got 0");
  EXPECT_EQ(message([&] { return probe.map({.heads = {2}, .size = {5, 5}}); }),
            "Probe::map: h: expected 0 to 1, got 2");
  EXPECT_EQ(message([&] { return probe.map({.size = {1, 1}, .area = MapArea{2, 6, 0, 5}}); }),
            "Probe::map: i_begin, i_end: expected a range within [0, 5], got 2 to 6");
  EXPECT_EQ(message([&] { return probe.map({.size = {1, 4}, .area = MapArea{2, 4, 0, 3}}); }),
            "Probe::map: size.columns: expected 1 to the area's keys = 3, got 4");
  EXPECT_EQ(message([&] { return probe.of_queries({4, 6}).shape().Tq; }),
            "Probe::of_queries: queries: expected a range within [0, 5], got 4 to 6");
  EXPECT_EQ(message([&] { return probe.of_queries({4, 4}).shape().Tq; }),
            "Probe::of_queries: queries: expected one query or more, got none");
  EXPECT_EQ(message([&] { return probe.of_queries({0, 4, 0}).shape().Tq; }),
            "Probe::of_queries: queries.step: expected 1 or more, got 0");
  EXPECT_EQ(message([&] { return probe.top_keys({}, 6); }), "Probe::top_keys: count: expected 0 to Tk = 5, got 6");
  EXPECT_EQ(message([&] { return probe.key_totals({1, 0}); }), "Probe::key_totals: b: expected 0 to 0, got 1");
  EXPECT_EQ(message([&] { return probe.statistics({0, 9}); }), "Probe::statistics: h: expected 0 to 1, got 9");
}

}  // namespace
}  // namespace qkv::testing_probe::probe_walk_test
