#include "core/exact_math.h"

#include <gmock/gmock.h>

#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

namespace qkv::core::exact_math_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();

using Ours = std::function<double(double)>;
using Wide = std::function<long double(long double)>;  // libm's in long double, which has more digits

// Distance of neighbouring numbers at x.
double ulp_at(double x) {
  const double size = std::fabs(x);
  if (size < std::numeric_limits<double>::min()) return kSmallest;
  return std::ldexp(1.0, std::ilogb(size) - 52);
}

// Even numbers between two ends, or between their logarithms to base 2 with either sign.
struct Range {
  double begin;
  double end;
  enum class Kind : std::uint8_t { even, positive_powers, powers } kind = Kind::even;
};

double draw(const Range& range, std::mt19937_64& engine) {
  const double x = std::uniform_real_distribution<double>(range.begin, range.end)(engine);
  if (range.kind == Range::Kind::even) return x;
  const double size = std::exp2(x);
  return range.kind == Range::Kind::powers && engine() % 2 == 0 ? -size : size;
}

struct Measured {
  std::string name;
  Ours ours;
  Wide wide;
  std::vector<Range> ranges;
  double ulps;  // at most
};

std::vector<Measured> measured() {
  using enum Range::Kind;
  std::vector<Measured> all = {
      {"exp", exp, [](long double x) { return std::exp(x); }, {{-708, 710}, {-1, 1}, {-60, 9, powers}}, 0.51},
      {"exp_subnormal", exp, [](long double x) { return std::exp(x); }, {{-746, -708}}, 0.76},
      {"log",
       log,
       [](long double x) { return std::log(x); },
       {{-1074, 1024, positive_powers}, {0.4, 2.5}, {0.99, 1.01}},
       0.51},
      {"log1p",
       log1p,
       [](long double x) { return std::log1p(x); },
       {{-1, 1}, {-60, -0.001, powers}, {-10, 1024, positive_powers}},
       0.51},
      {"tanh", tanh, [](long double x) { return std::tanh(x); }, {{-3, 3}, {-0.02, 0.02}, {-40, 5, powers}}, 0.51},
      {"erf", erf, [](long double x) { return std::erf(x); }, {{-7, 7}, {-0.5, 0.5}, {-60, 3, powers}}, 0.65},
      {"erf_subnormal", erf, [](long double x) { return std::erf(x); }, {{-1080, -1015, powers}}, 0.76},
      {"erfc", erfc, [](long double x) { return std::erfc(x); }, {{-7, 1}, {0, 26.5}, {-60, 1, powers}}, 0.65},
      {"erfc_subnormal", erfc, [](long double x) { return std::erfc(x); }, {{26.5, 28}}, 0.76},
      // Beyond 2^63 the long double functions of some processors reduce with too few digits of pi.
      {"sin", sin, [](long double x) { return std::sin(x); }, {{-4, 4}, {-1e6, 1e6}, {-50, 62, powers}}, 0.51},
      {"cos", cos, [](long double x) { return std::cos(x); }, {{-4, 4}, {-1e6, 1e6}, {-50, 62, powers}}, 0.51},
  };
  for (const double y : {0.5, -0.25, 0.734375, 3.0, -17.5, 300.0}) {
    all.push_back({"pow_to_" + std::to_string(y),
                   [y](double x) { return pow(x, y); },
                   [y](long double x) { return std::pow(x, static_cast<long double>(y)); },
                   {{-3, 3, positive_powers}},
                   0.51});
  }
  for (const double base : {1.0000000001, 2.0, 10000.0}) {
    const double last = 1022 / std::log2(base);
    all.push_back({"pow_of_" + std::to_string(base),
                   [base](double y) { return pow(base, y); },
                   [base](long double y) { return std::pow(static_cast<long double>(base), y); },
                   {{-last, last}},
                   0.51});
  }
  return all;
}

class Accuracy : public testing::TestWithParam<Measured> {};

TEST_P(Accuracy, IsWithinItsBound) {
  if (LDBL_MANT_DIG < 64) GTEST_SKIP() << "long double has no more digits than double here";
  constexpr int kDraws = 60'000;
  const Measured& function = GetParam();
  std::mt19937_64 engine(7);
  double worst = 0;
  double at = 0;
  for (const Range& range : function.ranges) {
    for (int n = 0; n < kDraws; ++n) {
      const double x = draw(range, engine);
      const double got = function.ours(x);
      const long double want = function.wide(static_cast<long double>(x));
      const auto rounded = static_cast<double>(want);
      if (!std::isfinite(got) || !std::isfinite(rounded)) {
        ASSERT_EQ(got, rounded) << x;
        continue;
      }
      const auto error = static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                                             static_cast<long double>(ulp_at(rounded)));
      if (error > worst) at = x;
      worst = std::max(worst, error);
    }
  }
  EXPECT_LE(worst, function.ulps) << "at " << std::hexfloat << at;
  RecordProperty("ulps", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(ExactMath, Accuracy, testing::ValuesIn(measured()), [](const auto& chosen) {
  std::string name;
  for (const char letter : chosen.param.name) name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
});

// From mpmath with 1400 bits: sines and cosines of numbers that need many digits of pi, or lie next to its multiples.
TEST(ExactMath, AnglesMayBeOfAnySize) {
  struct Angle {
    double x;
    double sin;
    double cos;
  };
  constexpr Angle kAngles[] = {
      {0x1p20, 0x1.526ccb2fc8656p-2, 0x1.e33ada92fe2aep-1},
      {0x1.00000002p31, -0x1.4c7a68801a084p-2, 0x1.e442c6ece90b5p-1},
      {0x1.2a05f2004p33, -0x1.2e7abefe701fp-7, 0x1.fffa6a60de29ep-1},
      {0x1.cbe991a146p36, -0x1.c37e7efc00926p-2, -0x1.cb8bb3f28f4bp-1},
      {0x1.1c37937e08p52, -0x1.cdad29f3bc197p-1, -0x1.bab6bd014d7f7p-2},
      {0x1.0f0cf064dd592p73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
      {0x1.249ad2594c37dp332, -0x1.85c5e5b929359p-2, 0x1.d9757496841f5p-1},
      {0x1.6ac5b262ca1ffp849, 0x1p0, -0x1.14ae72e6ba22fp-61},
      {0x1.fffffffffffffp1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
      {0x1.921fb54442d18p0, 0x1p0, 0x1.1a62633145c07p-54},
      {std::numbers::pi, 0x1.1a62633145c07p-53, -0x1p0},
      {0x1.921fb54442d18p30, -0x1.1a62633145c03p-24, 0x1.fffffffffffedp-1},
  };
  for (const Angle& angle : kAngles) {
    EXPECT_EQ(sin(angle.x), angle.sin) << std::hexfloat << angle.x;
    EXPECT_EQ(sin(-angle.x), -angle.sin) << std::hexfloat << angle.x;
    EXPECT_EQ(cos(angle.x), angle.cos) << std::hexfloat << angle.x;
    EXPECT_EQ(cos(-angle.x), angle.cos) << std::hexfloat << angle.x;
  }
}

// Equal, of the same sign where it is 0, or both NaN.
MATCHER_P(IsSame, wanted, "") {  // NOLINT(readability-identifier-naming): a matcher
  if (std::isnan(wanted)) return std::isnan(arg);
  return arg == wanted && std::signbit(arg) == std::signbit(wanted);
}

TEST(ExactMath, SpecialValuesOfOneArgumentAreThoseOfC) {
  const std::vector<double> specials = {0.0,  -0.0,      1.0,        -1.0,      kInfinity,        -kInfinity, kNan,
                                        2.0,  kSmallest, -kSmallest, kLargest,  -kLargest,        710.0,      -746.0,
                                        -2.0, 0x1p-1022, -0x1p-1022, 0x1p-1021, 0x1.fffffffffp-1, 28.0,       -28.0};
  for (const double x : specials) {
    SCOPED_TRACE(x);
    EXPECT_THAT(exp(x), IsSame(static_cast<double>(std::exp(static_cast<long double>(x)))));
    EXPECT_THAT(log(x), IsSame(static_cast<double>(std::log(static_cast<long double>(x)))));
    EXPECT_THAT(log1p(x), IsSame(static_cast<double>(std::log1p(static_cast<long double>(x)))));
    EXPECT_THAT(tanh(x), IsSame(static_cast<double>(std::tanh(static_cast<long double>(x)))));
    EXPECT_THAT(erf(x), IsSame(static_cast<double>(std::erf(static_cast<long double>(x)))));
    EXPECT_THAT(erfc(x), IsSame(static_cast<double>(std::erfc(static_cast<long double>(x)))));
    if (std::fabs(x) == kLargest) continue;  // AnglesMayBeOfAnySize
    EXPECT_THAT(sin(x), IsSame(static_cast<double>(std::sin(static_cast<long double>(x)))));
    EXPECT_THAT(cos(x), IsSame(static_cast<double>(std::cos(static_cast<long double>(x)))));
  }
}

TEST(ExactMath, SpecialValuesOfPowAreThoseOfC) {
  const std::vector<double> specials = {0.0,  -0.0,  1.0,       -1.0,       kInfinity, -kInfinity, kNan,       0.5,
                                        -0.5, 2.0,   -2.0,      3.0,        -3.0,      2.5,        -2.5,       1023.0,
                                        1024, 1074,  -1074.0,   -1075.0,    0x1p53,    -0x1p53,    0x1p53 - 1, kLargest,
                                        1e30, 1e-30, kSmallest, -kSmallest, 0x1p31,    -kLargest};
  for (const double x : specials) {
    for (const double y : specials) {
      const auto wanted = static_cast<double>(std::pow(static_cast<long double>(x), static_cast<long double>(y)));
      EXPECT_THAT(pow(x, y), IsSame(wanted)) << x << " to the " << y;
    }
  }
}

TEST(ExactMath, WholePowersOfTwoAreExact) {
  for (int n = -1074; n <= 1023; ++n) EXPECT_EQ(pow(2, n), std::ldexp(1.0, n));
  EXPECT_EQ(pow(10, 15), 1e15);
  EXPECT_EQ(pow(10, -4), 1e-4);
}

}  // namespace
}  // namespace qkv::core::exact_math_test
