// Patterns of Oniguruma: the parts are those that the tokenizers library cuts.
#include "text/regex.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/error.h"

namespace qkv::regex_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> cut(const std::string& pattern, std::string_view text) {
  std::vector<text::Part> parts;
  text::Regex(pattern, "pattern").find_all(text, parts);
  std::vector<std::string> all;
  for (const text::Part& part : parts) {
    if (part.begin < part.end) all.emplace_back(text.substr(part.begin, part.end - part.begin));
  }
  return all;
}

std::string refusal(const std::string& pattern) {
  return error_message<Error>([&] { static_cast<void>(cut(pattern, "a")); });
}

TEST(Patterns, OfPublishedTokenizers) {
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)";
  const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)";
  const std::string kimi = R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?)" + upper + lower +
                           R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+)";
  EXPECT_THAT(cut(kimi, "Hello world, it's 123漢字とカタカナ、かな。"),
              ElementsAre("Hello", " world", ",", " it's", " ", "123", "漢字", "とカタカナ", "、かな", "。"));
  EXPECT_THAT(cut(R"( ?[^(\s|[.,!?…。，、।۔،])]+)", "foo(bar) baz, 日本。"),
              ElementsAre("foo", "(", "bar", ")", " baz", ",", " 日本", "。"));
  EXPECT_THAT(cut(R"([^\W\d_]+)", "x²+½=1 मराठी_a"), ElementsAre("x", "²+½=1 ", "मराठी", "_", "a"));
}

TEST(Patterns, HaveIntersectionsAndBracketsInBrackets) {
  EXPECT_THAT(cut("[a-z&&[^aeiou]]+", "hello, you"), ElementsAre("h", "e", "ll", "o, ", "y", "ou"));
  EXPECT_THAT(cut("[[a-c][x-z]]+", "abxm-cz"), ElementsAre("abx", "m-", "cz"));
  EXPECT_THAT(cut("[^[a-c]]+", "a.b,c"), ElementsAre("a", ".", "b", ",", "c"));
  EXPECT_THAT(cut("[[^a]b]", "ab"), ElementsAre("a", "b"));
  EXPECT_THAT(cut("[a-z&&[^b-d]&&[^f]]+", "abefg"), ElementsAre("a", "b", "e", "f", "g"));
  EXPECT_THAT(cut("[^a-z&&[b-d]]+", "abxd"), ElementsAre("a", "b", "x", "d"));
  EXPECT_THAT(cut(R"([\P{Han}]+)", "a漢b"), ElementsAre("a", "漢", "b"));
  EXPECT_THAT(cut("[]a]+", "a]b"), ElementsAre("a]", "b"));
  EXPECT_THAT(cut("[[:alpha:]&&[^a-m]]+", "aéz"), ElementsAre("a", "éz"));
  EXPECT_THAT(cut(R"([^\S\r\n]+)", "a \n b"), ElementsAre("a", " ", "\n", " ", "b"));
}

TEST(Patterns, HaveOnigurumasClasses) {
  EXPECT_THAT(cut(R"(\w+)", "x²½ⓐ-‿"), ElementsAre("x²½ⓐ", "-", "‿"));
  EXPECT_THAT(cut(R"([\w]+)", "x²½ⓐ-‿"), ElementsAre("x", "²½", "ⓐ", "-", "‿"));
  EXPECT_THAT(cut(R"([^\w\s]+)", "x² ½"), ElementsAre("x", "²", " ", "½"));
  EXPECT_THAT(cut("[[:alnum:]]+", "मराठी①a"), ElementsAre("मराठी", "①", "a"));
  EXPECT_THAT(cut("[[:punct:]]+", "¢a+!"), ElementsAre("¢", "a", "+!"));
  EXPECT_THAT(cut(R"(\p{Punct}+)", "¢a+!"), ElementsAre("¢a+", "!"));
  EXPECT_THAT(cut("[[:lower:]]+", "aªⓐA"), ElementsAre("aªⓐ", "A"));
  EXPECT_THAT(cut(R"(\p{Han}+)", "漢。字"), ElementsAre("漢", "。", "字"));
  EXPECT_THAT(cut(R"([\p{Hiragana}\p{Katakana}]+)", "ひ、カー"), ElementsAre("ひ", "、", "カ", "ー"));
  EXPECT_THAT(cut(R"(\h+)", "hello f0"), ElementsAre("h", "e", "llo ", "f0"));
  EXPECT_THAT(cut(R"([\H]+)", "hello f0"), ElementsAre("h", "e", "llo ", "f0"));
  EXPECT_THAT(cut(R"(\p{Alnum}+)", "a1_é"), ElementsAre("a1", "_", "é"));
  EXPECT_THAT(cut(R"(\p{Letter}+)", "a1"), ElementsAre("a", "1"));
  EXPECT_THAT(cut(R"(\p{^L}+)", "a1-"), ElementsAre("a", "1-"));
  EXPECT_THAT(cut("[[:^alpha:]]+", "a1-b"), ElementsAre("a", "1-", "b"));
  EXPECT_THAT(cut(R"(\b)", "मरा x²"), ElementsAre("मरा", " ", "x²"));
}

TEST(Patterns, HaveOnigurumasSyntax) {
  EXPECT_THAT(cut("a{,2}", "aaab"), ElementsAre("aa", "a", "b"));
  EXPECT_THAT(cut("a{2}+", "aaaaab"), ElementsAre("aaaa", "ab"));
  EXPECT_THAT(cut("a{2}?", "aab"), ElementsAre("aa", "b"));
  EXPECT_THAT(cut("a+*b", "aab"), ElementsAre("aab"));
  EXPECT_THAT(cut(R"(\Qa\E)", "QaEa"), ElementsAre("QaE", "a"));
  EXPECT_THAT(cut(R"([\u4e00-\u9fff]+)", "a日本"), ElementsAre("a", "日本"));
  EXPECT_THAT(cut(R"(\u65e5)", "日本"), ElementsAre("日", "本"));
  EXPECT_THAT(cut(R"(\O+)", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(cut(R"(\v)", "a\vb\n"), ElementsAre("a", "\v", "b\n"));
  EXPECT_THAT(cut("(?m)a.b", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(cut("a.b", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(cut("(?i)A|b", "aB"), ElementsAre("a", "B"));
  EXPECT_THAT(cut("x(?i)a|b", "xAB"), ElementsAre("xA", "B"));
  EXPECT_THAT(cut("(?x) a # [", "ba"), ElementsAre("b", "a"));
  EXPECT_THAT(cut("(?#()a", "ba"), ElementsAre("b", "a"));
  EXPECT_THAT(cut(R"((?<n>a)\k<n>)", "aab"), ElementsAre("aa", "b"));
  EXPECT_THAT(cut("(?>a+)b", "aab"), ElementsAre("aab"));
}

TEST(Patterns, StayAsTheyAreWhereTheyMeanTheSame) {
  for (const std::string same : {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+)", R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})",
                                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\d+|[a-z]*?(?=x)(?<!y))", R"([\p{Lu}\P{Lt}\D])"}) {
    EXPECT_EQ(text::in_pcre2(same), same);
  }
}

TEST(Patterns, AreRefusedByNameWhereNothingInPcre2IsTheSame) {
  EXPECT_EQ(refusal(R"(\y)"),
            R"(pattern: expected a regular expression, got "\y": \y, a border of graphemes or words)");
  EXPECT_THAT(refusal(R"(\p{In_Basic_Latin})"), HasSubstr(R"(\p{In_Basic_Latin}, which is no category, script or)"));
  EXPECT_THAT(refusal("(?~ab)"), HasSubstr("(?~, a group that is not translated"));
  EXPECT_THAT(refusal("(?W)a"), HasSubstr("(?W, options but i, m, x"));
  EXPECT_THAT(refusal("(*FAIL)"), HasSubstr("(*, a call"));
  EXPECT_THAT(refusal(R"(\xE3\x81)"), HasSubstr(R"(\xE3, a byte of a character)"));
  EXPECT_THAT(refusal("[[a]"), HasSubstr("[ without ]"));
  EXPECT_THAT(refusal(R"(\u12)"), HasSubstr(R"(\u12 without its digits)"));
  EXPECT_THAT(refusal("a\\"), HasSubstr("\\ at the end"));
  EXPECT_THAT(refusal(std::string(1000, '[')), HasSubstr("brackets more than 64 deep"));
}

}  // namespace
}  // namespace qkv::regex_test
