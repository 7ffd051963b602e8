// What a model was not trained on, and an answer as people read it.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "qkv/train/task.h"

namespace qkv::outside_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> outside(const char* name, std::string_view text) {
  const auto task = make_task(name);
  TaskExample example;
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
