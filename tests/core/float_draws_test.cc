// Normal numbers in f32 are those that the exact functions make.
#include "core/float_draws.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace qkv::core::float_draws_test {
namespace {

constexpr std::uint32_t kUniforms = std::uint32_t{1} << 24U;  // what RandomStream::uniform<float> draws, times 2^-24
constexpr float kUnit = 0x1p-24F;

// As bits, so that 0 and -0 differ.
std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

void expect_exact(float angle) {
  const auto [sines, cosines] = floats_of_sine_and_cosine(std::array{angle});
  ASSERT_EQ(bits_of(sines[0]), bits_of(static_cast<float>(sin(static_cast<double>(angle))))) << angle;
  ASSERT_EQ(bits_of(cosines[0]), bits_of(static_cast<float>(cos(static_cast<double>(angle))))) << angle;
}

void expect_exact_log(float x) {
  ASSERT_EQ(bits_of(float_of_log(x)), bits_of(static_cast<float>(log(static_cast<double>(x))))) << x;
}

TEST(FloatDraws, AreThoseOfTheExactFunctions) {
  for (std::uint32_t n = 0; n < kUniforms; n += 61) {
    const float uniform = static_cast<float>(n) * kUnit;
    expect_exact(2 * std::numbers::pi_v<float> * uniform);
    expect_exact_log(1 - uniform);
    if (HasFatalFailure()) return;
  }
}

TEST(FloatDraws, AreExactAtTheEndsOfTheirRanges) {
  for (std::uint32_t n = 0; n < 2000; ++n) {
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const auto middle = bits_of(static_cast<float>(quarter * std::numbers::pi / 2));
      expect_exact(std::bit_cast<float>(middle + n));
      if (middle >= n) expect_exact(std::bit_cast<float>(middle - n));
    }
    expect_exact_log(1 - static_cast<float>(n) * kUnit);
    expect_exact_log(static_cast<float>(n + 1) * kUnit);
    if (HasFatalFailure()) return;
  }
}

// Where the f64 lies between two f32, the exact function is asked.
TEST(FloatDraws, AreUndecidedBetweenTwoFloats) {
  EXPECT_TRUE(decides_float(1.0));
  EXPECT_TRUE(decides_float(0.0));
  EXPECT_TRUE(decides_float(-1 - 0x1p-25));
  EXPECT_FALSE(decides_float(1 + 0x1p-24));
  EXPECT_FALSE(decides_float(-1 - 0x1p-24 + 0x1p-50));
}

}  // namespace
}  // namespace qkv::core::float_draws_test
