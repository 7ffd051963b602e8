#include <gmock/gmock.h>

#include <cmath>

#include "core/philox.h"
#include "qkv/random.h"

namespace qkv::dropout_test {
namespace {

using core::philox4x32;
using testing::ElementsAre;

// The known answers that Random123 publishes for philox4x32 with 10 rounds (kat_vectors).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U));
  constexpr std::uint32_t kOnes = 0xffffffffU;
  EXPECT_THAT(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU));
  EXPECT_THAT(philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
              ElementsAre(0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U));
}

TEST(Dropout, TakesItsWordFromTheCounterOfThePlace) {
  constexpr std::uint64_t kSeed = 0x299f31d0a4093822U;
  const core::PhiloxCounter words = philox4x32({5, 4, 3, 2}, {0xa4093822U, 0x299f31d0U});
  for (std::int64_t j = 20; j < 24; ++j) {
    const double word = words[static_cast<std::size_t>(j - 20)];
    const Place place = {.b = 2, .h = 3, .i = 4, .j = j};
    EXPECT_TRUE(dropout_keeps(kSeed, word / 0x1p32, place));
    EXPECT_FALSE(dropout_keeps(kSeed, (word + 1) / 0x1p32, place));
  }
}

TEST(Dropout, KeepsAllAtProbabilityZero) {
  for (std::int64_t j = 0; j < 1000; ++j) EXPECT_TRUE(dropout_keeps(1, 0.0, {.j = j}));
}

// Six standard deviations of a binomial count: a fair function stays inside for all but one seed in 10^8.
TEST(Dropout, KeepsTheShareItWasAskedFor) {
  constexpr double kP = 0.3;
  constexpr std::int64_t kSide = 200;
  double kept = 0;
  for (std::int64_t i = 0; i < kSide; ++i) {
    for (std::int64_t j = 0; j < kSide; ++j) kept += dropout_keeps(7, kP, {.b = 1, .h = 2, .i = i, .j = j}) ? 1 : 0;
  }
  const double n = kSide * kSide;
  EXPECT_NEAR(kept, n * (1 - kP), 6 * std::sqrt(n * kP * (1 - kP)));
}

}  // namespace
}  // namespace qkv::dropout_test
