// What a task asks of a text of the reader's own: as its own examples have it.
#include <gmock/gmock.h>

#include "qkv/train/task.h"

namespace qkv::mark_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr std::int64_t kExamples = 256;

// The text alone.
Example stripped(const Example& example) {
  return {.source = example.source,
          .image = example.image,
          .tokens = example.tokens,
          .labels = std::vector<std::optional<std::int32_t>>(example.tokens.size()),
          .scored = std::vector<bool>(example.tokens.size()),
          .patterns = {},
          .syntax = std::nullopt};
}

Example marked(const Task& task, std::string_view text) {
  Example example;
  example.tokens = task.vocabulary().encode(text).ids;
  example.labels.resize(example.tokens.size());
  example.scored.resize(example.tokens.size());
  task.mark(example);
  return example;
}

std::vector<std::vector<std::int64_t>> rows(const std::vector<PatternRow>& pattern) {
  std::vector<std::vector<std::int64_t>> all;
  for (const PatternRow& row : pattern) {
    all.push_back({row.query});
    all.back().insert(all.back().end(), row.keys.begin(), row.keys.end());
  }
  return all;
}

class MarkedAsItsExamples : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Tasks, MarkedAsItsExamples,
                         testing::Values("copy", "reverse", "sort", "previous", "brackets", "addition", "english"));

TEST_P(MarkedAsItsExamples, FromTheTextAlone) {
  const auto task = make_task(GetParam());
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = task->example(Split::test, n);
    Example text = stripped(example);
    task->mark(text);
    EXPECT_EQ(text.labels, example.labels) << n;
    EXPECT_EQ(text.scored, example.scored) << n;
    ASSERT_EQ(text.patterns.size(), example.patterns.size()) << n;
    for (std::size_t relation = 0; relation < text.patterns.size(); ++relation) {
      EXPECT_EQ(rows(text.patterns[relation]), rows(example.patterns[relation])) << n;
    }
    EXPECT_THAT(task->outside(example), IsEmpty()) << n;
  }
}

// A text may also hold pairs that its letters form by chance.
TEST(Marked, InductionHasThePairsOfItsExamples) {
  const auto task = make_task("induction");
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = task->example(Split::test, n);
    Example text = stripped(example);
    task->mark(text);
    for (std::size_t p = 0; p < text.tokens.size(); ++p) {
      if (!example.labels[p]) continue;
      EXPECT_EQ(text.labels[p], example.labels[p]) << n << " " << p;
    }
    for (std::size_t relation = 0; relation < 2; ++relation) {
      EXPECT_THAT(rows(text.patterns[relation]), testing::IsSupersetOf(rows(example.patterns[relation]))) << n;
    }
    EXPECT_THAT(task->outside(example), IsEmpty()) << n;
  }
}

TEST(Marked, InductionAsksAfterARepeat) {
  const auto task = make_task("induction");
  const Example example = marked(*task, "abcxyzab");
  EXPECT_THAT(task->asked(example), ElementsAre(false, false, false, false, false, false, true, true));
  EXPECT_THAT(example.labels[6], Optional(task->vocabulary().id("b")));
  EXPECT_THAT(rows(example.patterns[0]), ElementsAre(ElementsAre(6, 1), ElementsAre(7, 2)));
  EXPECT_THAT(rows(example.patterns[1]), ElementsAre(ElementsAre(1, 0), ElementsAre(2, 1)));
  EXPECT_THAT(marked(*task, "abxab").labels[3], Optional(task->vocabulary().id("b")));
  EXPECT_EQ(marked(*task, "abxac").labels[3], std::nullopt);   // no pair
  EXPECT_EQ(marked(*task, "abacab").labels[4], std::nullopt);  // b or c
}

TEST(Marked, AdditionAsksFromTheEqualsSignOn) {
  const auto task = make_task("addition");
  const Example sum = marked(*task, "19+23=2");
  EXPECT_THAT(task->asked(sum), ElementsAre(false, false, false, false, false, true, true));
  EXPECT_THAT(sum.labels[5], Optional(task->vocabulary().id("2")));
  EXPECT_THAT(sum.labels[6], Optional(task->vocabulary().id("4")));
  EXPECT_THAT(rows(sum.patterns[1]), ElementsAre(ElementsAre(6, 1, 4, 6)));
  const Example uneven = marked(*task, "19+3=");
  EXPECT_THAT(task->asked(uneven), ElementsAre(false, false, false, false, true));
  EXPECT_EQ(uneven.labels[4], std::nullopt);
  EXPECT_THAT(task->asked(marked(*task, "1+2")), ElementsAre(false, false, false));
  EXPECT_EQ(marked(*task, "12+3+=").labels[5], std::nullopt);
}

TEST(Marked, EnglishAsksAtHiddenFormsPronounsAndHomonyms) {
  const auto task = make_task("english");
  EXPECT_THAT(task->asked(marked(*task, "<this> cats <see> the bat and they fall")),
              ElementsAre(true, false, true, false, true, false, true, false));
  for (std::int64_t n = 0; n < kExamples; ++n) {
    const Example example = task->example(Split::test, n);
    std::vector<bool> labelled;
    for (const auto& label : example.labels) labelled.push_back(label.has_value());
    EXPECT_EQ(task->asked(example), labelled) << example.syntax->sentence;
  }
}

TEST(Marked, BracketsSkipWhatClosesNothing) {
  const auto task = make_task("brackets");
  const Example example = marked(*task, "?(]?[?");
  EXPECT_THAT(rows(example.patterns[0]), ElementsAre(ElementsAre(5, 4)));
  EXPECT_THAT(example.labels[5], Optional(task->vocabulary().id("]")));
}

TEST(Marked, LettersThatSortingCannotTellApartHaveNoPattern) {
  const auto task = make_task("sort");
  Example example;
  example.source = task->source_vocabulary().encode("abca</s>").ids;
  example.tokens = task->vocabulary().encode("<s>aabc").ids;
  task->mark(example);
  EXPECT_THAT(example.patterns, IsEmpty());
}

}  // namespace
}  // namespace qkv::mark_test
