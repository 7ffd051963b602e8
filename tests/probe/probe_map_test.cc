// Maps of whole matrices and of rectangles, against matrices that are stored.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "mask/random_mask.h"
#include "probe/probe_sample.h"

namespace qkv::testing_probe::probe_map_test {
namespace {

using mask_test::any_in;
using testing::Each;

// The mean of the weights of some heads as the probe itself has them, in f64 [Tq, Tk]: what rounding remains is that of
// sums.
Tensor weights_of(const Probe& probe, std::int64_t b, const std::vector<std::int64_t>& heads) {
  const MaskShape& shape = probe.shape();
  Tensor mean(DType::f64, {shape.Tq, shape.Tk});
  for (const std::int64_t h : heads) {
    const std::vector<double> weights = probe.tile({b, h, 0, shape.Tq, 0, shape.Tk}).to_vector();
    for (std::size_t n = 0; n < weights.size(); ++n) {
      mean.values<double>()[n] += weights[n] / static_cast<double>(heads.size());
    }
  }
  return mean;
}

// A sum of numbers of one sign in f32 within a tile, in f64 beyond.
double sum_bound(DType dtype) { return dtype == DType::f64 ? 4000 * 0x1p-53 : 80 * 0x1p-24; }

struct Cell {
  double mean = 0;
  double largest = 0;
};

// A cell of a matrix, written out once more.
Cell cell_of(const Tensor& matrix, const MapArea& area, const MapSize& size, std::int64_t r, std::int64_t c) {
  const std::int64_t queries = area.i_end - area.i_begin;
  const std::int64_t keys = area.j_end - area.j_begin;
  Cell cell;
  std::int64_t pairs = 0;
  for (std::int64_t i = r * queries / size.rows; i < (r + 1) * queries / size.rows; ++i) {
    for (std::int64_t j = c * keys / size.columns; j < (c + 1) * keys / size.columns; ++j, ++pairs) {
      const double value = matrix.at({area.i_begin + i, area.j_begin + j});
      cell.mean += value;
      cell.largest = std::max(cell.largest, value);
    }
  }
  cell.mean /= static_cast<double>(pairs);
  return cell;
}

struct Expected {
  Tensor weights;  // [Tq, Tk]
  Tensor visible;
};

// The n-th map.
void assert_map(const CellMaps& maps, std::int64_t n, const Expected& expected, const MapRequest& request,
                double relative) {
  const MapArea area = request.area.value_or(MapArea{0, expected.weights.dim(0), 0, expected.weights.dim(1)});
  for (std::int64_t r = 0; r < request.size.rows; ++r) {
    for (std::int64_t c = 0; c < request.size.columns; ++c) {
      const Cell weights = cell_of(expected.weights, area, request.size, r, c);
      RC_ASSERT(close(maps.mean.at({n, r, c}), weights.mean, 0, relative));
      RC_ASSERT(close(maps.largest.at({n, r, c}), weights.largest, 0, relative));
      if (expected.visible.empty()) continue;
      const Cell visible = cell_of(expected.visible, area, request.size, r, c);
      RC_ASSERT(close(maps.visible.at({n, r, c}), visible.mean, 0, sum_bound(DType::f64)));
    }
  }
}

std::pair<std::int64_t, std::int64_t> any_range(std::int64_t extent) {
  const std::int64_t begin = any_in(0, extent - 1);
  return {begin, any_in(begin + 1, extent)};
}

MapRequest any_request(const Sample& sample, bool whole) {
  const auto [B, H, Tq, Tk] = sample.shape();
  MapRequest request{.b = any_in(0, B - 1), .size = {}};
  MapArea area = {0, Tq, 0, Tk};
  if (!whole) {
    std::tie(area.i_begin, area.i_end) = any_range(Tq);
    std::tie(area.j_begin, area.j_end) = any_range(Tk);
    request.area = area;
  }
  request.size = {any_in(1, area.i_end - area.i_begin), any_in(1, area.j_end - area.j_begin)};
  return request;
}

RC_GTEST_PROP(ProbeMap, IsTheMatrixOfEachHeadInCells, (bool whole)) {
  const Sample sample = any_sample(any_dtype(), true);
  const Probe probe = sample.probe();
  const MapRequest request = any_request(sample, whole);
  const CellMaps maps = probe.map(request);
  RC_ASSERT(maps.mean.shape() == Shape({sample.shape().H, request.size.rows, request.size.columns}));
  for (std::int64_t h = 0; h < sample.shape().H; ++h) {
    const Expected expected = {weights_of(probe, request.b, {h}), sample.visible({request.b, h})};
    assert_map(maps, h, expected, request, sum_bound(sample.q.dtype()));
  }
}

RC_GTEST_PROP(ProbeMap, OfHeadsIsThatOfTheirMean, (bool whole)) {
  const Sample sample = any_sample(any_dtype(), true);
  const Probe probe = sample.probe();
  MapRequest request = any_request(sample, whole);
  request.of = MapOf::mean;
  std::vector<std::int64_t> heads(static_cast<std::size_t>(sample.shape().H));
  std::iota(heads.begin(), heads.end(), 0);
  const CellMaps maps = probe.map(request);
  RC_ASSERT(maps.mean.dim(0) == 1);
  assert_map(maps, 0, {weights_of(probe, request.b, heads), {}}, request, 2 * sum_bound(sample.q.dtype()));
}

// What is asked first must not matter: a part of the rows is known then.
RC_GTEST_PROP(ProbeMap, IsTheSameAfterAPartOfIt, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const MapRequest whole = any_request(sample, true);
  const Probe probe = sample.probe();
  static_cast<void>(probe.map(any_request(sample, false)));
  const CellMaps after = probe.map(whole);
  const CellMaps first = sample.probe().map(whole);
  for (Tensor CellMaps::* part : {&CellMaps::mean, &CellMaps::largest, &CellMaps::visible}) {
    const std::vector<double> got = (after.*part).to_vector();
    const std::vector<double> expected = (first.*part).to_vector();
    for (std::size_t n = 0; n < got.size(); ++n) RC_ASSERT(close(got[n], expected[n], 0));
  }
}

TEST(ProbeMap, OfOneRowOrOneColumnHasItsWeights) {
  const Tensor q = Generator(1).randn({1, 2, 200, 4});
  const Tensor k = Generator(2).randn({1, 1, 150, 4});
  const Probe probe(q, k, {.mask = causal() & window(70)});
  const Tensor weights = probe.tile({0, 1, 0, 200, 0, 150}).to(DType::f64);
  const CellMaps row = probe.map({.heads = {1}, .size = {1, 150}, .area = MapArea{130, 131, 0, 150}});
  EXPECT_EQ(row.mean.to_vector(), weights.select(0, 130).to_vector());
  EXPECT_EQ(row.largest.to_vector(), weights.select(0, 130).to_vector());
  const CellMaps column = probe.map({.heads = {1}, .size = {200, 1}, .area = MapArea{0, 200, 149, 150}});
  EXPECT_EQ(column.mean.to_vector(), weights.select(1, 149).to_vector());
}

TEST(ProbeMap, OfRowsThatSeeNothingIsZero) {
  const Tensor q = Generator(1).randn({1, 1, 200, 4});
  const Tensor k = Generator(2).randn({1, 1, 100, 4});
  const CellMaps maps = Probe(q, k, {.mask = causal()}).map({.size = {10, 10}, .area = MapArea{0, 100, 0, 100}});
  for (const Tensor* part : {&maps.mean, &maps.largest, &maps.visible}) EXPECT_THAT(part->to_vector(), Each(0.0));
}

TEST(ProbeMap, ComputesNoTileOutsideOfItsRectangle) {
  const Tensor q = Generator(1).randn({1, 1, 1024, 4});
  std::int64_t asked = 0;
  const Mask counts = predicate("counts", [&](const Place&, const MaskShape&) {
    ++asked;
    return true;
  });
  const Tensor lse(DType::f64, {1, 1, 1024});
  const Probe probe(q, q, {.mask = counts, .threads = 1}, lse);
  asked = 0;
  static_cast<void>(probe.map({.size = {4, 4}, .area = MapArea{512, 576, 128, 256}}));
  EXPECT_LE(asked, 2 * 64 * 64);  // twice of each pair at most: the class of a tile, and its bits
}

TEST(ProbeMap, OfSeveralHeadsCountsPairsExactly) {
  // Three heads of five see everything.
  const Tensor q = Generator(1).randn({1, 5, 3, 4});
  const Tensor k = Generator(2).randn({1, 5, 7, 4});
  Tensor seen(DType::b8, {5, 1, 1});
  for (std::int64_t h = 0; h < 3; ++h) seen.values<bool>()[static_cast<std::size_t>(h)] = true;
  const CellMaps maps = Probe(q, k, {.mask = dense(seen)}).map({.size = {1, 1}, .of = MapOf::mean});
  EXPECT_EQ(maps.visible.at({0, 0, 0}), 0.6);
}

TEST(ProbeMap, KeepsNan) {
  Tensor k = Generator(2).randn({1, 1, 100, 2});
  k.set({0, 0, 70, 0}, std::nan(""));
  const Tensor q = Generator(1).randn({1, 1, 100, 2});
  const CellMaps maps = Probe(q, k, {.mask = causal()}).map({.size = {2, 1}});
  for (const Tensor* part : {&maps.mean, &maps.largest}) {
    EXPECT_FALSE(std::isnan(part->at({0, 0, 0})));
    EXPECT_TRUE(std::isnan(part->at({0, 1, 0})));
  }
}

// Some of the queries: all that a probe makes of them is what it makes of them among the others.
RC_GTEST_PROP(ProbeOfQueries, HasTheRowsOfTheWhole, ()) {
  const Sample sample = any_sample(any_dtype(), true);
  const HeadPlace head = sample.any_head();
  const Probe probe = sample.probe();
  const auto [begin, end] = any_range(sample.shape().Tq);
  const QueryRange queries = {begin, end, any_in(1, 4)};
  const Probe some = probe.of_queries(queries);
  const std::int64_t Tk = sample.shape().Tk;
  const Stage stage = *rc::gen::element(Stage::raw, Stage::biased, Stage::masked, Stage::weights, Stage::dropped);
  const Tensor whole = probe.tile({head.b, head.h, 0, sample.shape().Tq, 0, Tk}, stage);
  const Tensor rows = some.tile({head.b, head.h, 0, some.shape().Tq, 0, Tk}, stage);
  const RowStatistics statistics = some.statistics(head);
  const RowStatistics all = probe.statistics(head);
  for (std::int64_t n = 0; n < some.shape().Tq; ++n) {
    const std::int64_t i = begin + n * queries.step;
    RC_ASSERT(rows.select(0, n).to_vector() == whole.select(0, i).to_vector());
    for (Tensor RowStatistics::* column :
         {&RowStatistics::visible, &RowStatistics::entropy, &RowStatistics::distance, &RowStatistics::diagonal}) {
      RC_ASSERT((statistics.*column).at({n}) == (all.*column).at({i}));
    }
  }
}

TEST(ProbeOfQueries, KeepsTheLseThatIsKnown) {
  const Tensor q = Generator(1).randn({1, 1, 300, 4});
  const Probe probe(q, q, {.mask = causal()});
  const Tensor lse = probe.lse({});
  std::int64_t total = 0;
  const ProbeWatch watch = [&](const ProbeProgress& progress) {
    total = progress.total;
    return Proceed::go_on;
  };
  const Tensor some = probe.of_queries({10, 300, 7}).of_queries({1, 3}).lse({}, watch);
  EXPECT_EQ(some.to_vector(), (std::vector{lse.at({17}), lse.at({24})}));
  EXPECT_EQ(total, 0);
}

}  // namespace
}  // namespace qkv::testing_probe::probe_map_test
