#include "qkv/insight/patterns.h"

#include <gmock/gmock.h>

#include "qkv/error.h"

namespace qkv::patterns_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// [CLS] a b . a b [SEP]
PatternTokens text() {
  const std::vector<std::int64_t> ids = {0, 5, 6, 3, 5, 6, 1};
  std::vector<TokenRole> roles(7, TokenRole::word);
  roles[0] = roles[6] = TokenRole::separator;
  roles[3] = TokenRole::punctuation;
  return {.queries = ids, .keys = ids, .roles = roles};
}

std::vector<std::size_t> keys_of(std::string_view word, const PatternTokens& tokens, std::size_t query) {
  return text_patterns()[text_pattern_named(word)].keys(tokens, query);
}

TEST(TextPatterns, AreWhatTheirNamesSay) {
  EXPECT_THAT(keys_of("previous", text(), 4), ElementsAre(3));
  EXPECT_THAT(keys_of("previous", text(), 0), IsEmpty());
  EXPECT_THAT(keys_of("next", text(), 4), ElementsAre(5));
  EXPECT_THAT(keys_of("next", text(), 6), IsEmpty());
  EXPECT_THAT(keys_of("self", text(), 4), ElementsAre(4));
  EXPECT_THAT(keys_of("first", text(), 4), ElementsAre(0));
  EXPECT_THAT(keys_of("first", text(), 0), IsEmpty());
  EXPECT_THAT(keys_of("separator", text(), 4), ElementsAre(6));  // [SEP] alone: [CLS] is "first"
  EXPECT_THAT(keys_of("punctuation", text(), 4), ElementsAre(3));
  EXPECT_THAT(keys_of("duplicate", text(), 4), ElementsAre(1));
  EXPECT_THAT(keys_of("duplicate", text(), 1), ElementsAre(4));
  EXPECT_THAT(keys_of("induction", text(), 4), ElementsAre(2));
  EXPECT_THAT(keys_of("induction", text(), 1), IsEmpty());
}

TEST(TextPatterns, FollowTheLastQueriesOfALongerText) {
  PatternTokens tokens = text();
  tokens.queries = {5, 6};  // places 5 and 6, if it were so
  EXPECT_THAT(keys_of("self", tokens, 0), ElementsAre(5));
  EXPECT_THAT(keys_of("previous", tokens, 0), ElementsAre(4));
  EXPECT_THAT(keys_of("induction", tokens, 0), ElementsAre(2, 5));
}

TEST(TextPatterns, OfCrossAttentionCountFromTheStart) {
  PatternTokens tokens = text();
  tokens.queries = {5, 6};
  tokens.is_self = false;
  EXPECT_THAT(keys_of("place", tokens, 1), ElementsAre(1));
  EXPECT_THAT(keys_of("last", tokens, 1), ElementsAre(6));
  EXPECT_THAT(keys_of("separator", tokens, 1), ElementsAre(0, 6));  // there is no "first" here
}

TEST(TextPatterns, RefuseAWordThatIsNone) {
  try {
    static_cast<void>(text_pattern_named("before"));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("one of previous, next, self"));
    EXPECT_THAT(error.what(), HasSubstr("\"before\""));
  }
}

}  // namespace
}  // namespace qkv::patterns_test
