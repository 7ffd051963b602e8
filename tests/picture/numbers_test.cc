#include "picture/numbers.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

namespace qkv::picture::numbers_test {
namespace {

using testing::ElementsAre;

TEST(NumberStyle, WritesFixedNumbers) {
  EXPECT_EQ(style_for(1, 2)(0.256), "0.26");
  EXPECT_EQ(style_for(1, 2)(-0.001), "0.00");  // no "-0.00"
  EXPECT_EQ(style_for(0, 3)(0), "0.000");
  EXPECT_EQ(style_for(1, 2)(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(style_for(1, 2)(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(NumberStyle, TurnsScientificWhereFixedWouldTellNothing) {
  EXPECT_EQ(style_for(1e-9, 2)(1e-9), "1.0e-9");
  EXPECT_EQ(style_for(1.7e308, 2)(-1.7e308), "-1.7e308");
  EXPECT_EQ(style_for(1e-9, 2)(0), "0");
  EXPECT_FALSE(style_for(0.005, 2).scientific);
  EXPECT_TRUE(style_for(0.0049, 2).scientific);
}

TEST(RoundTicks, AreRound) {
  EXPECT_THAT(round_ticks(0, 1, 6), ElementsAre(0, 0.2, testing::DoubleEq(0.4), testing::DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(round_ticks(-3, 3, 5), ElementsAre(-2, 0, 2));
}

TEST(RoundTicks, KeepToTheirLimitAndTheirRangeAtAnySize) {
  for (const double low : {0.0, -1.0, 3.0, 1e-300, -1e308}) {
    for (const double span : {1e-12, 0.37, 1.0, 12345.0, 1e300}) {
      for (const int most : {2, 3, 6, 10}) {
        const double high = low + span;
        if (!(high > low)) continue;
        const std::vector<double> ticks = round_ticks(low, high, most);
        EXPECT_GE(ticks.size(), 1U);
        EXPECT_LE(static_cast<int>(ticks.size()), most);
        for (const double tick : ticks) {
          EXPECT_GE(tick, low - 1e-9 * span);
          EXPECT_LE(tick, high + 1e-9 * span);
        }
      }
    }
  }
  EXPECT_EQ(round_ticks(5, 5, 6).size(), 1U);
  EXPECT_GE(round_ticks(-1.7e308, 1.7e308, 6).size(), 2U);
}

TEST(TickLabels, DifferFromOneAnother) {
  for (const double high : {1e-12, 0.003, 0.5, 1.0, 77.0, 1e5, 3e9, 1e300}) {
    const std::vector<std::string> labels = tick_labels(round_ticks(0, high, 6));
    EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size()) << high;
  }
  EXPECT_THAT(tick_labels(std::vector<double>{0, 0.5, 1}), ElementsAre("0.0", "0.5", "1.0"));
}

TEST(LogarithmicTicks, ArePowersOfTheBaseWithTheirOwnExponents) {
  const auto labels = [](double low, double high) {
    return logarithmic_tick_labels(logarithmic_ticks(low, high, Base::ten, 8));
  };
  EXPECT_THAT(labels(2e-6, 0.5), ElementsAre("1e-5", "0.0001", "0.001", "0.01", "0.1"));
  EXPECT_THAT(labels(0.01, 0.06), ElementsAre("0.01", "0.02", "0.05"));
  EXPECT_THAT(labels(0.301, 0.302), testing::Each(testing::StartsWith("0.30")));
}

}  // namespace
}  // namespace qkv::picture::numbers_test
