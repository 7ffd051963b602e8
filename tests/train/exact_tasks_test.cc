// The answers and patterns of the tasks over letters, brackets and digits, derived again from what an example shows.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "qkv/train/task.h"

namespace qkv::exact_tasks_test {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kExamples = 500;

// What an example asks and shows, as text.
struct Read {
  std::string source;
  std::string tokens;
  std::vector<std::string> labels;                                      // "" where nothing is asked
  std::vector<std::map<std::int64_t, std::vector<std::int64_t>>> keys;  // of each relation
};

Read read(const Task& task, const Example& example) {
  Read result{task.vocabulary().decode(example.source), task.vocabulary().decode(example.tokens), {}, {}};
  for (const auto& label : example.labels) result.labels.push_back(label ? task.vocabulary().piece(*label) : "");
  for (const auto& rows : example.patterns) {
    auto& keys = result.keys.emplace_back();
    for (const PatternRow& row : rows) keys[row.query] = row.keys;
  }
  return result;
}

void for_each_example(const char* name, const TaskOptions& options, const std::function<void(const Read&)>& check) {
  const auto task = make_task(name, options);
  for (std::int64_t n = 0; n < kExamples && !testing::Test::HasFailure(); ++n) {
    const Example example = task->example(n % 2 == 0 ? Split::train : Split::test, n);
    SCOPED_TRACE(show(*task, example));
    check(read(*task, example));
  }
}

// The letters of "abc</s>".
std::string letters_of(const std::string& source) {
  EXPECT_TRUE(source.ends_with("</s>"));
  return source.substr(0, source.size() - 4);
}

void check_rewrite(const char* name, const std::function<std::string(std::string)>& answer_to) {
  for (const std::int64_t length : {2, 12, 26}) {
    for_each_example(name, {.seed = 3, .length = length}, [&](const Read& read) {
      const std::string letters = letters_of(read.source);
      const std::string answer = answer_to(letters);
      EXPECT_GE(static_cast<std::int64_t>(letters.size()), (length + 1) / 2);
      EXPECT_LE(static_cast<std::int64_t>(letters.size()), length);
      EXPECT_EQ(read.tokens, "<s>" + answer);
      std::string predicted;
      for (const std::string& label : read.labels) predicted += label;
      EXPECT_EQ(predicted, answer + "</s>");
      ASSERT_EQ(read.keys[0].size(), letters.size());
      for (const auto& [query, keys] : read.keys[0]) {
        ASSERT_EQ(keys.size(), 1U);
        EXPECT_EQ(letters[static_cast<std::size_t>(keys[0])], answer[static_cast<std::size_t>(query)]);
      }
    });
  }
}

TEST(ExactTasks, CopyIsTheDiagonal) {
  check_rewrite("copy", [](std::string letters) { return letters; });
  for_each_example("copy", {}, [](const Read& read) {
    for (const auto& [query, keys] : read.keys[0]) EXPECT_THAT(keys, ElementsAre(query));
  });
}

TEST(ExactTasks, ReverseIsTheOtherDiagonal) {
  check_rewrite("reverse", [](const std::string& letters) { return std::string(letters.rbegin(), letters.rend()); });
  for_each_example("reverse", {}, [](const Read& read) {
    const auto last = static_cast<std::int64_t>(letters_of(read.source).size()) - 1;
    for (const auto& [query, keys] : read.keys[0]) EXPECT_THAT(keys, ElementsAre(last - query));
  });
}

TEST(ExactTasks, SortLooksAtTheNextLetter) {
  check_rewrite("sort", [](std::string letters) {
    std::ranges::sort(letters);
    EXPECT_EQ(std::ranges::adjacent_find(letters), letters.end()) << "a letter twice has no single place";
    return letters;
  });
}

TEST(ExactTasks, PreviousLooksOneBack) {
  for_each_example("previous", {}, [](const Read& read) {
    EXPECT_EQ(read.labels[0], "");
    EXPECT_EQ(read.keys[0].size(), read.tokens.size() - 1);
    for (std::size_t p = 1; p < read.tokens.size(); ++p) {
      EXPECT_EQ(read.labels[p], std::string(1, read.tokens[p - 1]));
      EXPECT_THAT(read.keys[0].at(static_cast<std::int64_t>(p)), ElementsAre(static_cast<std::int64_t>(p) - 1));
    }
  });
}

// Of a letter that came before exactly once, and whose follower does again: the place after it.
TEST(ExactTasks, InductionLooksBehindTheSameLetter) {
  for (const std::int64_t length : {20, 24, 100}) {
    for_each_example("induction", {.length = length}, [&](const Read& read) {
      EXPECT_EQ(static_cast<std::int64_t>(read.tokens.size()), length);
      EXPECT_GE(read.keys[0].size(), 3U);
      for (std::size_t p = 0; p < read.tokens.size(); ++p) {
        const bool asked = !read.labels[p].empty();
        EXPECT_EQ(read.keys[0].count(static_cast<std::int64_t>(p)), asked ? 1U : 0U);
        if (!asked) continue;
        EXPECT_EQ(read.labels[p], std::string(1, read.tokens[p + 1]));
        const std::size_t before = read.tokens.find(read.tokens[p]);
        ASSERT_LT(before, p);
        EXPECT_EQ(read.tokens.find(read.tokens[p], before + 1), p);
        const auto key = static_cast<std::int64_t>(before) + 1;
        EXPECT_THAT(read.keys[0].at(static_cast<std::int64_t>(p)), ElementsAre(key));
        EXPECT_EQ(read.tokens[before + 1], read.tokens[p + 1]);
        EXPECT_THAT(read.keys[1].at(key), ElementsAre(key - 1));
      }
    });
  }
}

// Were the pairs in the order of their first time, or the letter before a pair the same again, a model could go by
// that.
TEST(ExactTasks, InductionPairsComeInAnOrderOfTheirOwn) {
  std::int64_t pairs = 0;
  std::int64_t falling = 0;
  std::int64_t same_before = 0;
  for_each_example("induction", {}, [&](const Read& read) {
    EXPECT_GE(read.keys[0].size(), 4U);
    EXPECT_LE(read.keys[0].size(), 8U);
    std::int64_t last = 0;
    for (const auto& [query, keys] : read.keys[0]) {
      const auto p = static_cast<std::size_t>(query);
      const auto first = static_cast<std::size_t>(keys[0] - 1);
      ++pairs;
      falling += keys[0] < last ? 1 : 0;
      same_before += first > 0 && read.tokens[first - 1] == read.tokens[p - 1] ? 1 : 0;
      last = keys[0];
    }
  });
  EXPECT_GT(falling, pairs / 4);
  EXPECT_LT(same_before, pairs / 8);
}

TEST(ExactTasks, BracketsLookAtTheOneThatOpened) {
  const std::map<char, std::string> closing = {{'(', ")"}, {'[', "]"}, {'{', "}"}};
  for (const std::int64_t length : {8, 20, 61}) {
    for_each_example("brackets", {.length = length}, [&](const Read& read) {
      std::vector<std::int64_t> open;
      for (std::size_t p = 0; p < read.tokens.size(); ++p) {
        const auto query = static_cast<std::int64_t>(p);
        if (read.tokens[p] != '?') {
          EXPECT_EQ(read.labels[p], "");
          EXPECT_FALSE(read.keys[0].contains(query));
          open.push_back(query);
          continue;
        }
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(read.labels[p], closing.at(read.tokens[static_cast<std::size_t>(open.back())]));
        EXPECT_THAT(read.keys[0].at(query), ElementsAre(open.back()));
        open.pop_back();
      }
      EXPECT_TRUE(open.empty());
    });
  }
}

TEST(ExactTasks, AdditionLooksAtThePlaceAndTheOneBefore) {
  for (const std::int64_t digits : {1, 4, 12}) {
    for_each_example("addition", {.length = digits}, [&](const Read& read) {
      const auto d = static_cast<std::size_t>(digits);
      const std::string a = read.tokens.substr(0, d);
      const std::string b = read.tokens.substr(d + 1, d);
      EXPECT_EQ(read.tokens.substr(d, 1) + read.tokens.substr(2 * d + 1, 1), "+=");
      const std::string sum =
          std::to_string(std::stoll(a) + std::stoll(b) + 10 * std::stoll("1" + std::string(d, '0')));
      std::string predicted;  // from the ones up; the number above has one digit more, which keeps its zeros
      for (std::size_t k = 0; k <= d; ++k) {
        const std::size_t query = 2 * d + 1 + k;
        predicted = read.labels[query] + predicted;
        if (k < d) {
          EXPECT_THAT(read.keys[0].at(static_cast<std::int64_t>(query)), ElementsAre(d - 1 - k, 2 * d - k));
        }
        if (k > 0) {
          EXPECT_THAT(read.keys[1].at(static_cast<std::int64_t>(query)), ElementsAre(d - k, 2 * d + 1 - k, query));
          EXPECT_EQ(read.tokens.substr(query, 1), read.labels[query - 1]);
        }
      }
      EXPECT_EQ(predicted, sum.substr(sum.size() - d - 1));
    });
  }
}

}  // namespace
}  // namespace qkv::exact_tasks_test
