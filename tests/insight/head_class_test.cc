#include <gmock/gmock.h>

#include "qkv/insight/heads.h"

namespace qkv::head_class_test {
namespace {

struct Shown {
  std::string_view pattern;
  double weight = 0;
  double even = 0.1;
};

HeadStatistics head_with(const std::vector<Shown>& shares) {
  HeadStatistics head{.rows = 10};
  head.shares.resize(text_patterns().size());
  for (const Shown& one : shares) {
    head.shares[text_pattern_named(one.pattern)] = {
        .weight_sum = one.weight * 10, .even_sum = one.even * 10, .rows = 10};
  }
  return head;
}

TEST(ClassOf, IsThePatternWithTheLargestShare) {
  const HeadClass shown = class_of(head_with({{"previous", 0.55}, {"induction", 0.75}}));
  EXPECT_EQ(shown.word, "induction");
  EXPECT_DOUBLE_EQ(shown.weight, 0.75);
  EXPECT_EQ(shown.evidence, "0.75 on the token after the same one");
}

TEST(ClassOf, PrefersTheNarrowerOfTwoThatAreNearlyEqual) {
  EXPECT_EQ(class_of(head_with({{"first", 0.90}, {"separator", 0.94}})).word, "first");
  EXPECT_EQ(class_of(head_with({{"first", 0.80}, {"separator", 0.94}})).word, "separator");
}

TEST(ClassOf, AsksForHalfOfTheWeightAndTwiceThatOfAnEvenHead) {
  EXPECT_EQ(class_of(head_with({{"previous", 0.49}})).word, "mixed");
  EXPECT_EQ(class_of(head_with({{"previous", 0.49}})).evidence, "at most 0.49 on the previous token");
  EXPECT_EQ(class_of(head_with({{"punctuation", 0.95, 0.9}})).word, "mixed");
  EXPECT_EQ(class_of(head_with({{"punctuation", 0.95, 0.9}})).evidence, "no pattern stands out");
}

TEST(ClassOf, CountsInductionOnRepeatedTokens) {
  HeadStatistics head = head_with({{"induction", 0.3}});
  head.repeat_induction = 0.8;
  EXPECT_EQ(class_of(head).word, "induction");
  EXPECT_EQ(class_of(head).evidence, "0.80 on the token after the same one, where random tokens come twice");
}

TEST(ClassOf, IsBroadByEvenness) {
  HeadStatistics head = head_with({{"previous", 0.2}});
  head.evenness = 0.93;
  EXPECT_EQ(class_of(head).word, "broad");
  EXPECT_EQ(class_of(head).evidence, "0.93 of the largest entropy");
}

TEST(ClassOf, TakesNothingFromOneRow) {
  HeadStatistics head = head_with({});
  head.shares[0] = {.weight_sum = 1, .even_sum = 0.1, .rows = 1};
  EXPECT_EQ(class_of(head).word, "mixed");
}

}  // namespace
}  // namespace qkv::head_class_test
