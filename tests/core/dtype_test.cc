#include "qkv/dtype.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/element.h"

namespace qkv::dtype_test {
namespace {

constexpr unsigned kPatterns = 0x10000;

struct Format {
  int digits;        // of the significand, the hidden one included
  int min_exponent;  // of the smallest subnormal number
  double largest;
};
constexpr Format kHalf{11, -24, 65504};
constexpr Format kBFloat16{8, -133, 0x1.FEp127};

// Rounding to nearest, ties to even, from the definition: value is scaled so that the last place counts as 1.
double nearest(double value, const Format& format) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value) - format.digits + 1, format.min_exponent);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  return std::fabs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

template <class T>
class SixteenBits : public testing::Test {
 public:
  static constexpr Format kFormat = std::is_same_v<T, Half> ? kHalf : kBFloat16;
};
using SixteenBitTypes = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, SixteenBitTypes);

TYPED_TEST(SixteenBits, EveryPatternSurvivesTheWayThroughFloat) {
  for (unsigned bits = 0; bits < kPatterns; ++bits) {
    const auto number = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(number);
    const unsigned quiet = std::isnan(value) ? 1U << static_cast<unsigned>(this->kFormat.digits - 2) : 0U;
    ASSERT_EQ(TypeParam(value).bits, bits | quiet);
  }
}

TYPED_TEST(SixteenBits, MidpointsGoToTheEvenNeighbour) {
  for (unsigned bits = 0; bits < 0x7FFF; ++bits) {
    const double low = core::to_double(TypeParam::from_bits(static_cast<std::uint16_t>(bits)));
    const double high = core::to_double(TypeParam::from_bits(static_cast<std::uint16_t>(bits + 1)));
    if (!std::isfinite(high)) break;
    const double middle = (low + high) / 2;
    ASSERT_EQ(core::from_double<TypeParam>(middle).bits, bits + (bits & 1U));
    ASSERT_EQ(core::from_double<TypeParam>(std::nextafter(middle, low)).bits, bits);
    ASSERT_EQ(core::from_double<TypeParam>(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(core::from_double<TypeParam>(-middle).bits, 0x8000U | (bits + (bits & 1U)));
  }
}

TYPED_TEST(SixteenBits, BeyondTheLargestIsInfinity) {
  const double largest = this->kFormat.largest;
  const double half_place = std::ldexp(1.0, std::ilogb(largest) - this->kFormat.digits);
  EXPECT_EQ(core::to_double(core::from_double<TypeParam>(std::nextafter(largest + half_place, 0))), largest);
  EXPECT_TRUE(std::isinf(core::to_double(core::from_double<TypeParam>(largest + half_place))));
  EXPECT_TRUE(std::isinf(core::to_double(core::from_double<TypeParam>(1e300))));
}

// Doubles of every exponent near the format's range, with any significand.
rc::Gen<double> any_double() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(-160, 140)),
                      [](const std::tuple<std::uint64_t, int>& parts) {
                        const auto [bits, exponent] = parts;
                        const double significand = 1.0 + static_cast<double>(bits >> 12U) * 0x1p-52;
                        return std::ldexp((bits & 1U) != 0 ? -significand : significand, exponent);
                      });
}

RC_GTEST_PROP(Rounding, DoubleToHalfRoundsOnce, ()) {
  const double value = *any_double();
  RC_ASSERT(core::to_double(core::from_double<Half>(value)) == nearest(value, kHalf));
}

RC_GTEST_PROP(Rounding, DoubleToBFloat16RoundsOnce, ()) {
  const double value = *any_double();
  RC_ASSERT(core::to_double(core::from_double<BFloat16>(value)) == nearest(value, kBFloat16));
}

RC_GTEST_PROP(Rounding, FloatToHalfRoundsToNearest, ()) {
  const auto value = static_cast<float>(*any_double());
  RC_ASSERT(static_cast<double>(static_cast<float>(Half(value))) == nearest(static_cast<double>(value), kHalf));
}

TEST(Rounding, IntegersTruncateAndSaturate) {
  EXPECT_EQ(core::from_double<std::int32_t>(-2.9), -2);
  EXPECT_EQ(core::from_double<std::int32_t>(1e10), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(core::from_double<std::int64_t>(0x1p63), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(core::from_double<std::int64_t>(-0x1p64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(core::from_double<std::int8_t>(-128.5), -128);
  EXPECT_EQ(core::from_double<std::int8_t>(127.5), 127);
  EXPECT_EQ(core::from_double<std::uint8_t>(-0.5), 0);
  EXPECT_EQ(core::from_double<std::uint8_t>(255.5), 255);
  EXPECT_EQ(core::from_double<std::int32_t>(std::nan("")), 0);
}

TEST(DTypes, HaveANameASizeAndAKind) {
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(size_of(DType::f64), sizeof(double));
  EXPECT_EQ(size_of(DType::b8), sizeof(bool));
  EXPECT_TRUE(is_floating(DType::f16));
  EXPECT_EQ(name_of(DType::i8), "i8");
  EXPECT_EQ(size_of(DType::i8), 1U);
  EXPECT_FALSE(is_floating(DType::i8));
  EXPECT_FALSE(is_floating(DType::u8));
}

}  // namespace
}  // namespace qkv::dtype_test
