// The table of docs/semantics.md, "Rows that see nothing, infinities, NaN", and numbers at the ends of f32: on every
// target, for keys that fill more than one tile.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cases/where.h"

namespace qkv::cases::extremes_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kKeys = 150;  // two whole tiles and a part

// Heads of D = Dv = 1 and 70 queries of 1: the scores are k itself.
class Extremes : public testing::TestWithParam<Where> {
 protected:
  Extremes() : k(static_cast<std::size_t>(kKeys), 0), v(static_cast<std::size_t>(kKeys), 1) {}

  static constexpr std::int64_t kQueries = 70;

  [[nodiscard]] DType dtype() const { return GetParam().dtype; }
  [[nodiscard]] double huge() const { return dtype() == DType::f16 ? 60000 : 1e30; }

  void run(AttentionOptions options = {}, double query = 1) {
    const auto tensor = [&](const std::vector<double>& values) {
      return Tensor(values, {1, 1, static_cast<std::int64_t>(values.size()), 1}).to(dtype());
    };
    if (!options.scale) options.scale = 1;
    options.target = GetParam().target;
    result = attention(tensor(std::vector<double>(kQueries, query)), tensor(k), tensor(v), options);
  }

  // Equal, or as many roundings off as a sum of equal terms may be.
  static void expect_near(double value, double expected, double unit) {
    if (std::isfinite(expected)) {
      EXPECT_NEAR(value, expected, 4 * unit * (1 + std::fabs(expected)));
    } else {
      EXPECT_THAT(value, testing::NanSensitiveDoubleEq(expected));
    }
  }

  // Every row alike.
  void expect(double out, double lse) const {
    // Narrower types round these sums away, unless they lie between two numbers.
    const double unit = dtype() == DType::f32 ? 0x1p-24 : dtype() == DType::f16 ? 0x1p-12 : 0x1p-9;
    const Tensor stored = Tensor(std::vector<double>{out}, {1}).to(dtype());
    for (const double value : result.out.to_vector()) expect_near(value, stored.at({0}), unit);
    for (const double value : result.lse.to_vector()) expect_near(value, lse, 0x1p-24);
  }

  std::vector<double> k;
  std::vector<double> v;
  AttentionResult result;
};

const double kLogKeys = std::log(static_cast<double>(kKeys));

TEST_P(Extremes, OneHugeScoreTakesAll) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{149}}) {
    k.assign(k.size(), 0);
    v.assign(v.size(), 1);
    k[at] = huge();
    v[at] = -2;
    run();
    expect(-2, Tensor(std::vector<double>{huge()}, {1}).to(dtype()).at({0}));
  }
}

TEST_P(Extremes, OneScoreFarBelowHasNoWeight) {
  k[70] = -huge();
  v[70] = huge();
  run();
  expect(1, std::log(kKeys - 1.0));
}

TEST_P(Extremes, ScoresOfBothSignsAtTheEndsOfTheType) {
  for (std::size_t j = 0; j < k.size(); ++j) k[j] = j % 2 == 0 ? huge() : -huge();
  for (std::size_t j = 1; j < v.size(); j += 2) v[j] = 7;
  run();
  expect(1, Tensor(std::vector<double>{huge()}, {1}).to(dtype()).at({0}) + std::log(75.0));
}

TEST_P(Extremes, ScoresAllFarBelowZeroAreEqual) {
  k.assign(k.size(), -huge());
  run();
  expect(1, Tensor(std::vector<double>{-huge()}, {1}).to(dtype()).at({0}) + kLogKeys);
}

TEST_P(Extremes, EqualRowsHaveEqualWeights) {
  k.assign(k.size(), 0.75);
  for (std::size_t j = 0; j < v.size(); ++j) v[j] = j % 2 == 0 ? 3 : 1;
  run();
  expect(2, 0.75 + kLogKeys);
}

TEST_P(Extremes, MaximaThatGrowFromTileToTileForgetTheEarlier) {
  for (std::size_t j = 0; j < k.size(); ++j) k[j] = j < 64 ? -200 : j < 128 ? 0 : 200;
  v.assign(v.size(), 5);
  for (std::size_t j = 128; j < v.size(); ++j) v[j] = 2;
  run();
  expect(2, 200 + std::log(kKeys - 128.0));
}

// Beyond the exponents of f32 a power of two may seem small, or negative.
TEST_P(Extremes, AMaximumMayGrowByAnything) {
  for (const double step : {10.0, 60.0, 88.0, 89.0, 95.0, 150.0, 178.0, 400.0, 3000.0, 40000.0}) {
    k.assign(k.size(), 0);
    v.assign(v.size(), 5);
    k[140] = step;
    v[140] = 2;
    run();
    const double top = Tensor(std::vector<double>{step}, {1}).to(dtype()).at({0});
    const double others = (kKeys - 1.0) * std::exp(-top);
    expect((2 + 5 * others) / (1 + others), top + std::log1p(others));
  }
}

TEST_P(Extremes, SubnormalScoresAreAsGoodAsZero) {
  for (double& key : k) key = dtype() == DType::f16 ? 0x1p-24 : 0x1p-130;
  run();
  expect(1, kLogKeys);
}

TEST_P(Extremes, MinusInfinityForbidsItsValue) {
  for (std::size_t j = 0; j < k.size(); j += 3) {
    k[j] = -kInfinity;
    v[j] = kNan;
  }
  run();
  expect(1, std::log(100.0));
}

TEST_P(Extremes, ATileOfMinusInfinityThenOthers) {
  for (std::size_t j = 0; j < 64; ++j) {
    k[j] = -kInfinity;
    v[j] = kInfinity;
  }
  run();
  expect(1, std::log(kKeys - 64.0));
}

TEST_P(Extremes, ScoresOfMinusInfinityAloneGiveZeros) {
  k.assign(k.size(), -kInfinity);
  v.assign(v.size(), kNan);
  run();
  expect(0, -kInfinity);
}

TEST_P(Extremes, ANanScoreMakesTheRowNan) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{149}}) {
    k.assign(k.size(), 0);
    k[at] = kNan;
    run();
    expect(kNan, kNan);
  }
}

TEST_P(Extremes, AnInfiniteScoreMakesTheRowNan) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{149}}) {
    k.assign(k.size(), 0);
    k[at] = kInfinity;
    run();
    expect(kNan, kNan);
  }
}

TEST_P(Extremes, ASoftcapMakesInfiniteScoresFinite) {
  for (std::size_t j = 0; j < k.size(); ++j) k[j] = j % 2 == 0 ? kInfinity : -kInfinity;
  run({.softcap = 2.0});
  expect(1, std::log(75 * (std::exp(2.0) + std::exp(-2.0))));
}

TEST_P(Extremes, AHiddenNanDoesNotReachARow) {
  for (std::size_t j = 77; j < k.size(); ++j) k[j] = v[j] = kNan;
  run({.mask = key_lengths({77})});
  expect(1, std::log(77.0));
  run({.mask = none()});
  expect(0, -kInfinity);
}

TEST_P(Extremes, ANanSeenByOneRowDoesNotReachAnother) {
  k[kKeys - 1] = kNan;
  v[kKeys - 2] = kInfinity;
  v[kKeys - 3] = kNan;
  run({.mask = causal()});
  for (std::int64_t i = 0; i < kQueries - 3; ++i) expect_near(result.out.at({0, 0, i, 0}), 1, 0x1p-24);
  EXPECT_THAT(result.out.at({0, 0, kQueries - 3, 0}), testing::IsNan());
  EXPECT_FALSE(std::isnan(result.lse.at({0, 0, kQueries - 2})));
  EXPECT_THAT(result.lse.at({0, 0, kQueries - 1}), testing::IsNan());
}

TEST_P(Extremes, ABiasOfMinusInfinityForbidsAnyScore) {
  Tensor bias(DType::f64, {1, kKeys});
  for (std::int64_t j = 0; j < kKeys; j += 2) {
    bias.set({0, j}, -kInfinity);
    k[static_cast<std::size_t>(j)] = j % 4 == 0 ? kNan : kInfinity;
    v[static_cast<std::size_t>(j)] = kNan;
  }
  run({.bias = dense_bias(bias)});
  expect(1, std::log(75.0));
}

TEST_P(Extremes, ABiasOfNanMakesTheRowNan) {
  Tensor bias(DType::f64, {1, kKeys});
  bias.set({0, 66}, kNan);
  run({.bias = dense_bias(bias)});
  expect(kNan, kNan);
}

TEST_P(Extremes, AVisibleInfinityFollowsIeee) {
  v[100] = kInfinity;
  run();
  expect(kInfinity, kLogKeys);
  v[3] = -kInfinity;
  run();
  expect(kNan, kLogKeys);
}

TEST_P(Extremes, AVisibleNanValueReachesTheRowWhateverItsWeight) {
  k[100] = -1e4;
  v[100] = kNan;
  run();
  expect(kNan, std::log(kKeys - 1.0));
}

TEST_P(Extremes, SinksOfAnySizeDoNotOverflow) {
  run({.sinks = {1e30}});
  expect(0, 1e30);
  run({.sinks = {-1e30}});
  expect(1, kLogKeys);
  k[1] = kNan;
  run({.sinks = {1e30}});
  expect(kNan, kNan);
}

TEST_P(Extremes, AScaleNearZeroGivesEqualWeights) {
  for (std::size_t j = 0; j < k.size(); ++j) k[j] = static_cast<double>(j);
  for (const double scale : {0.0, 1e-30, -1e-38, 1e-46, 1e-300}) {
    run({.scale = scale});
    expect(1, kLogKeys);
  }
}

TEST_P(Extremes, AScaleBeyondFloatTakesTheLargestScore) {
  for (std::size_t j = 0; j < k.size(); ++j) v[j] = k[j] = j == 90 ? 2 : 1;
  // An infinite lse would say that the row is NaN, or sees nothing.
  constexpr double kMost = std::numeric_limits<float>::max();
  run({.scale = 1e300});
  expect(2, kMost);
  run({.scale = -1e300});
  expect(1, -kMost);
}

TEST_P(Extremes, ASoftcapOfAnySizeIsASoftcap) {
  k.assign(k.size(), 3);
  run({.softcap = 1e300});
  expect(1, 3 + kLogKeys);
  run({.softcap = 1e30});
  expect(1, 3 + kLogKeys);
  run({.softcap = 1e-40});
  expect(1, kLogKeys);
  k[64] = 0;
  run({.softcap = 1e-300});
  expect(1, kLogKeys);
}

INSTANTIATE_TEST_SUITE_P(Cases, Extremes, testing::ValuesIn(everywhere()), kName);

}  // namespace
}  // namespace qkv::cases::extremes_test
