// What a model was not trained on, and an answer as people read it.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "qkv/train/task.h"

namespace qkv::outside_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> outside(const char* name, std::string_view text) {
  const auto task = make_task(name);
  Example example;
  (task->lengths().source > 0 ? example.source : example.tokens) =
      (task->lengths().source > 0 ? task->source_vocabulary() : task->vocabulary()).encode(text).ids;
  return task->outside(example);
}

TEST(Outside, IsASumOfOtherDigits) {
  EXPECT_THAT(outside("addition", "1234+4567="), IsEmpty());
  EXPECT_THAT(outside("addition", "1234+4567=1085"), IsEmpty());
  EXPECT_THAT(outside("addition", "123+45="),
              ElementsAre("it learned to add numbers of 4 digits; these have 3 and 2: write 0123+0045="));
  EXPECT_THAT(outside("addition", "12345+1="),
              ElementsAre("it learned to add numbers of 4 digits; these have 5 and 1"));
  for (const char* text : {"12", "1+", "1234+=", "+1234=", "=1+1", "1+1+1="}) {
    EXPECT_THAT(outside("addition", text), ElementsAre("it learned from sums such as 0012+0034=")) << text;
  }
}

TEST(Outside, AreLettersTooFewTooManyOrTwice) {
  EXPECT_THAT(outside("copy", "hellohello"), IsEmpty());
  EXPECT_THAT(outside("copy", "hello"), ElementsAre("it learned from texts of 6 to 12 letters; this one has 5"));
  EXPECT_THAT(outside("reverse", "abcdefghijklm</s>"),
              ElementsAre("it learned from texts of 6 to 12 letters; this one has 13"));
  EXPECT_THAT(outside("sort", "hello"),
              ElementsAre("it learned from texts of 6 to 12 letters; this one has 5",
                          "it learned from letters that are all different; l comes more than once"));
}

TEST(Outside, AreBracketsThatAreNotPairs) {
  const std::string learned = "it learned from ";
  EXPECT_THAT(outside("brackets", "([{???[?{}"),
              ElementsAre(learned + "closing brackets that are all written ?; this text has }"));
  EXPECT_THAT(outside("brackets", "([{???[?{)"),
              ElementsAre(learned + "closing brackets that are all written ?; this text has )"));
  EXPECT_THAT(outside("brackets", "([{???[?{("), ElementsAre(learned + "brackets that are all closed; 2 stay open"));
  EXPECT_THAT(outside("brackets", "([{???[???"),
              ElementsAre(learned + "closing brackets that each have an opening one; 2 have none"));
  EXPECT_THAT(outside("brackets", "((((((??????"), ElementsAre(learned + "brackets at most 5 deep; these are 6 deep"));
  EXPECT_THAT(outside("brackets", "(?"), ElementsAre(learned + "texts of 10 to 20 brackets; this one has 2"));
}

TEST(Outside, IsATextWithoutARepeat) {
  EXPECT_THAT(outside("induction", "abcxyzab"), IsEmpty());
  EXPECT_THAT(outside("induction", "abcxyza"), IsEmpty());
  for (const char* text : {"abcdef", "abcxyzaq", "aa"}) {
    EXPECT_THAT(outside("induction", text), ElementsAre(HasSubstr("pairs of letters come again"))) << text;
  }
}

TEST(Outside, AreWordsThatAreNoSentence) {
  const auto complaint = [](const char* name, std::string_view text) {
    const std::vector<std::string> all = outside(name, text);
    return all.empty() ? "" : all.front().substr(all.front().find("; ") + 2);
  };
  EXPECT_EQ(complaint("english", "the the the the"), "after \"the\", it expects a noun or an adjective");
  EXPECT_EQ(complaint("translation", "kings"), "a sentence begins with a determiner or a pronoun");
  EXPECT_EQ(complaint("translation", "some umbrellas are heavy"), "");
  EXPECT_EQ(complaint("translation", "some umbrella are heavy"), "\"some\" does not go with \"umbrella\"");
  EXPECT_EQ(complaint("translation", "the dog sleep"), "\"sleep\" does not go with \"dog\"");
  EXPECT_EQ(complaint("english", "they <sleep>"), "no noun before \"they\" is one that it may stand for");
  EXPECT_EQ(complaint("translation", "some umbrellas are"), "after \"are\", it expects an adjective");
  EXPECT_EQ(complaint("english", "the cat <be> heavy"), "");
  EXPECT_EQ(complaint("english", "the cat is heavy the"), "after \"heavy\", it expects \"and\"");
}

TEST(Outside, IsNoSentenceThatTheGrammarWrites) {
  for (const char* name : {"english", "translation"}) {
    const auto task = make_task(name);
    for (std::int64_t n = 0; n < 512; ++n) {
      const Example example = task->example(Split::test, n);
      EXPECT_THAT(task->outside(example), IsEmpty()) << task->vocabulary().decode(example.tokens);
    }
  }
}

TEST(Outside, IsAPictureOfOtherThings) {
  const auto task = make_task("shapes");
  Example example = task->example(Split::test, 0);
  for (std::int64_t n = 0; n < 64; ++n) EXPECT_THAT(task->outside(task->example(Split::test, n)), IsEmpty()) << n;
  example.image = Tensor(example.image);
  const std::span<float> pixels = example.image.values<float>();
  const std::size_t plane = pixels.size() / 3;
  const auto paint = [&](std::size_t place, std::array<float, 3> rgb) {
    for (std::size_t c = 0; c < 3; ++c) pixels[c * plane + place] = rgb[c];
  };
  // As PNG rounds it: still a picture of the task.
  for (float& value : pixels) value = std::round(value * 255) / 255;
  EXPECT_THAT(task->outside(example), IsEmpty());
  const auto coloured = [&](std::size_t place) {
    return pixels[place] + pixels[plane + place] + pixels[2 * plane + place] < 3;
  };
  for (std::size_t place = 0; place < plane; ++place) {
    if (!coloured(place)) continue;
    paint(place, {1, 1, 1});  // a hole in the first row of a shape
    break;
  }
  EXPECT_THAT(task->outside(example), ElementsAre(HasSubstr("is none as it draws them")));
  paint(0, {0.5F, 0.5F, 0.5F});
  EXPECT_THAT(task->outside(example),
              ElementsAre(HasSubstr("orange, purple; 1 % of the pixels of this one have others")));
  for (std::size_t place = 0; place < plane; ++place) paint(place, {1, 1, 1});
  EXPECT_THAT(task->outside(example),
              ElementsAre("it learned from pictures of 2 or 3 things on white; this one has 0"));
}

TEST(Outside, IsATextLongerThanAllExamples) {
  const std::string text(40, 'a');
  EXPECT_THAT(outside("induction", text), ElementsAre("it learned from texts of at most 32 tokens; this one has 40"));
  EXPECT_THAT(outside("induction", text.substr(8)), IsEmpty());
}

TEST(AnswerText, IsWhatPeopleRead) {
  const auto addition = make_task("addition");
  const auto read = [](const Task& task, std::string_view text) {
    return task.answer_text(task.vocabulary().encode(text).ids);
  };
  EXPECT_EQ(read(*addition, "10850"), "5801 (written from the ones up: 10850)");
  EXPECT_EQ(read(*addition, "00000"), "0 (written from the ones up: 00000)");
  EXPECT_EQ(read(*addition, "1+2"), "1+2");
  EXPECT_EQ(read(*addition, ""), "");
  EXPECT_EQ(read(*make_task("copy"), "abc</s>"), "abc");
}

// Code points of UTF-8.
std::ptrdiff_t columns(const std::string& line) {
  return std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(Show, FitsIntoEightyColumns) {
  for (const TaskInfo& info : tasks()) {
    const auto task = make_task(info.name);
    for (std::int64_t n = 0; n < 32; ++n) {
      std::istringstream lines(show(*task, task->example(Split::test, n)));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80) << info.name << n << "\n" << line;
    }
  }
}

}  // namespace
}  // namespace qkv::outside_test
