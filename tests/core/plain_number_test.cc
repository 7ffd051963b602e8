#include "core/plain_number.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/ascii.h"
#include "core/error_message.h"
#include "core/german_numbers.h"
#include "core/number_text.h"
#include "qkv/random.h"

namespace qkv::plain_number_test {
namespace {

TEST(PlainNumber, IsTheShortestTextThatReadsBack) {
  EXPECT_EQ(core::plain_number(-1), "-1");
  EXPECT_EQ(core::plain_number(0.1), "0.1");
  EXPECT_EQ(core::plain_number(1e-5), "1e-05");
  EXPECT_EQ(core::plain_number(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(core::plain_number(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(PlainNumber, HasAPointInEveryLocale) {
  const tests::GermanNumbers german;
  EXPECT_EQ(core::plain_number(1234567.5), "1234567.5");
  EXPECT_EQ(core::number_from<double>("1.93"), 1.93);
  EXPECT_EQ(error_message([] { static_cast<void>(Generator(1).bernoulli(1.5, {2})); }),
            "Generator::bernoulli: p: expected a probability from 0 to 1, got 1.5");
}

TEST(Ascii, KnowsNoOtherLetters) {
  EXPECT_TRUE(core::is_letter('z'));
  EXPECT_FALSE(core::is_letter('\xE4'));
  EXPECT_FALSE(core::is_blank('\xA0'));
  EXPECT_TRUE(core::is_blank('\t'));
  EXPECT_EQ(core::small_letters("Kapitel 3\xC4"), "kapitel 3\xC4");
}

}  // namespace
}  // namespace qkv::plain_number_test
