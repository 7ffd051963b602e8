// What holds for every task of the registry.
#include "qkv/train/task.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "core/error_message.h"
#include "qkv/model/relation_scores.h"
#include "train/baselines.h"

namespace qkv::task_test {
namespace {

// All that an example holds, as numbers.
std::vector<double> contents(const Example& example) {
  std::vector<double> all(example.source.begin(), example.source.end());
  all.insert(all.end(), example.tokens.begin(), example.tokens.end());
  for (std::size_t p = 0; p < example.labels.size(); ++p) {
    all.push_back(example.labels[p] ? *example.labels[p] : -1);
    all.push_back(example.scored[p] ? 1 : 0);
  }
  for (const auto& rows : example.patterns) {
    for (const PatternRow& row : rows) {
      all.push_back(static_cast<double>(row.query));
      all.insert(all.end(), row.keys.begin(), row.keys.end());
    }
  }
  if (example.image.empty()) return all;
  double hash = 0;  // of the pixels, which would be too many to keep
  for (const float pixel : example.image.values<float>()) hash = std::fmod(hash * 31 + 8 * pixel + 1, 1e12 + 39);
  all.push_back(hash);
  return all;
}

// What makes an example new to a model: what it sees, and what is asked.
std::vector<double> question(const Example& example) {
  Example seen = example;
  seen.patterns.clear();
  return contents(seen);
}

std::string fixed(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share, int digits) { return fixed(100 * share, digits) + " %"; }

// A row of a table of the document.
std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string document_text() {
  std::ifstream stream(QKV_SOURCE_DIR "/docs/tasks.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class EveryTask : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<const Task> task_ = make_task(GetParam());
};

TEST_P(EveryTask, SaysWhatItIs) {
  EXPECT_EQ(task_->info().name, GetParam());
  EXPECT_FALSE(task_->info().description.empty());
  EXPECT_GE(task_->info().accuracy, 0.9);
  EXPECT_LE(task_->info().accuracy, 1.0);
  EXPECT_FALSE(task_->relations().empty());
  EXPECT_EQ(task_->vocabulary().piece(Tokenizer::kPadding), "<pad>");
  EXPECT_EQ(task_->source_vocabulary().piece(Tokenizer::kPadding), "<pad>");
  EXPECT_EQ(task_->lengths().source > 0, task_->info().kind == TaskKind::encoder_decoder);
  EXPECT_EQ(task_->lengths().patches() > 0, task_->info().kind == TaskKind::image_text);
}

TEST_P(EveryTask, GivesTheSameExampleInAnyOrder) {
  const auto again = make_task(GetParam());
  const auto other = make_task(GetParam(), {.seed = 1});
  int differ = 0;
  for (std::int64_t n = 19; n >= 0; --n) {
    for (const Split split : {Split::test, Split::train}) {
      EXPECT_EQ(contents(task_->example(split, n)), contents(again->example(split, n)));
      differ += contents(task_->example(split, n)) == contents(other->example(split, n)) ? 0 : 1;
    }
  }
  EXPECT_GT(differ, 35) << "another seed gives other examples";
}

TEST_P(EveryTask, KeepsTrainAndTestApart) {
  std::set<std::vector<double>> train;
  std::set<std::vector<double>> test;
  for (std::int64_t n = 0; n < 2000; ++n) {
    train.insert(question(task_->example(Split::train, n)));
    test.insert(question(make_task(GetParam(), {.seed = 7})->example(Split::test, n)));
  }
  EXPECT_GT(train.size(), 1950U);
  EXPECT_GT(test.size(), 1900U);
  for (const auto& seen : test) EXPECT_FALSE(train.contains(seen));
}

TEST_P(EveryTask, StaysInItsBounds) {
  const bool causal = task_->info().kind == TaskKind::decoder;
  for (std::int64_t n = 0; n < 1000; ++n) {
    const Example example = task_->example(n % 8 == 0 ? Split::test : Split::train, n);
    const auto Tq = static_cast<std::int64_t>(example.tokens.size());
    EXPECT_LE(Tq, task_->lengths().tokens);
    EXPECT_LE(static_cast<std::int64_t>(example.source.size()), task_->lengths().source);
    ASSERT_EQ(example.labels.size(), example.tokens.size());
    ASSERT_EQ(example.scored.size(), example.tokens.size());
    ASSERT_EQ(example.patterns.size(), task_->relations().size());
    for (const std::int32_t token : example.tokens) {
      EXPECT_NO_THROW(static_cast<void>(task_->vocabulary().piece(token)));
    }
    for (const std::int32_t token : example.source) {
      EXPECT_NO_THROW(static_cast<void>(task_->source_vocabulary().piece(token)));
    }
    EXPECT_TRUE(std::ranges::find(example.scored, true) != example.scored.end());
    for (std::size_t p = 0; p < example.labels.size(); ++p) EXPECT_TRUE(!example.scored[p] || example.labels[p]);
    for (std::size_t r = 0; r < example.patterns.size(); ++r) {
      const AttentionSite site = task_->relations()[r].site;
      const auto source = static_cast<std::int64_t>(example.source.size());
      const std::int64_t cross = source > 0 ? source : task_->lengths().patches();
      std::int64_t last = -1;
      for (const PatternRow& row : example.patterns[r]) {
        EXPECT_GT(row.query, last);
        last = row.query;
        EXPECT_LT(row.query, site == AttentionSite::source ? source : Tq);
        ASSERT_FALSE(row.keys.empty());
        EXPECT_TRUE(std::ranges::is_sorted(row.keys, std::ranges::less_equal()));
        EXPECT_GE(row.keys.front(), 0);
        const std::int64_t keys = site == AttentionSite::tokens   ? (causal ? row.query + 1 : Tq)
                                  : site == AttentionSite::source ? source
                                                                  : cross;
        EXPECT_LT(row.keys.back(), keys);
      }
    }
    EXPECT_FALSE(show(*task_, example).empty());
    EXPECT_THAT(task_->outside(example), testing::IsEmpty());
  }
}

TEST_P(EveryTask, CannotBeAnsweredWithoutAttention) {
  const Baselines baselines = baselines_of(*task_);
  EXPECT_LT(baselines.constant, 0.5);
  EXPECT_LT(baselines.by_place, 0.6);
  EXPECT_LT(baselines.by_token, 0.7);
  const std::string document = document_text();
  EXPECT_THAT(document,
              testing::HasSubstr(row({GetParam(), percent(task_->info().accuracy, 0), percent(baselines.constant, 1),
                                      percent(baselines.by_place, 1), percent(baselines.by_token, 1)})));
  for (std::size_t r = 0; r < task_->relations().size(); ++r) {
    const double uniform = uniform_weight(*task_, r);
    EXPECT_LT(uniform, 0.5);
    EXPECT_THAT(document, testing::HasSubstr(row({GetParam(), task_->relations()[r].name, fixed(uniform, 2)})));
  }
}

TEST_P(EveryTask, RefusesAnExampleBeforeTheFirst) {
  EXPECT_EQ(error_message([&] { static_cast<void>(task_->example(Split::train, -1)); }),
            "Task::example: n: expected 0 or more, got -1");
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const TaskInfo& info : tasks()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, testing::ValuesIn(names()), [](const auto& name) { return name.param; });

TEST(MakeTask, RefusesWhatHasNoMeaning) {
  const auto message = [](const char* name, const TaskOptions& options) {
    return error_message([&] { static_cast<void>(make_task(name, options)); });
  };
  EXPECT_THAT(message("inductoin", {}),
              testing::AllOf(testing::StartsWith("make_task: task: expected one of copy, "),
                             testing::EndsWith(", got \"inductoin\"; did you mean induction?")));
  EXPECT_THAT(message("xyz", {}), testing::EndsWith(", got \"xyz\""));
  EXPECT_EQ(message("sort", {.length = 27}), "make_task: length: expected from 2 to 26 letters for sort, got 27");
  EXPECT_EQ(message("english", {.length = 9}), "make_task: length: expected none for english, got 9");
  EXPECT_EQ(message("induction", {.length = 19}),
            "make_task: length: expected from 20 to 4096 letters for induction, got 19");
}

// Weights [2, T, T]: head 0 on the letter before, head 1 uniform.
Tensor two_heads(std::int64_t length) {
  Tensor weights(DType::f32, {2, length, length});
  for (std::int64_t i = 0; i < length; ++i) {
    weights.set({0, i, std::max<std::int64_t>(i - 1, 0)}, 1);
    for (std::int64_t j = 0; j < length; ++j) weights.set({1, i, j}, 1.0 / static_cast<double>(length));
  }
  return weights;
}

TEST(ScorePattern, CountsTheRowsThatHaveOne) {
  const auto task = make_task("previous", {.length = 8});
  Example example = task->example(Split::train, 0);
  example.tokens.resize(8);
  example.patterns[0] = {{1, {0}}, {2, {1}}, {5, {2, 6}}};
  std::vector<PatternScore> scores = score_pattern(*task, example, "previous", two_heads(8));
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].rows, 3);
  EXPECT_EQ(scores[0].mean_weight(), 2.0 / 3);
  EXPECT_EQ(scores[0].accuracy(), 2.0 / 3);
  EXPECT_EQ(scores[1].mean_weight(), 4.0 / 24);
  EXPECT_EQ(scores[1].accuracy(), 1.0 / 3) << "of equal weights the first one counts";
  scores[0] += scores[1];
  EXPECT_EQ(scores[0].rows, 6);
  EXPECT_EQ(scores[0].accuracy(), 0.5);
  EXPECT_EQ(PatternScore{}.mean_weight(), 0);
  EXPECT_EQ(PatternScore{}.accuracy(), 0);
}

TEST(ScorePattern, ReadsViewsOfAnyStrides) {
  const auto task = make_task("previous", {.length = 8});
  Example example = task->example(Split::train, 0);
  example.tokens.resize(6);
  example.patterns[0] = {{1, {0}}, {5, {4}}};
  const Tensor padded = two_heads(8);
  const TensorView weights = padded.view().slice(1, 0, 6).slice(2, 0, 6);
  EXPECT_EQ(score_pattern(*task, example, "previous", weights)[0].mean_weight(), 1);
}

TEST(ScorePattern, RefusesWeightsOfAnotherShapeAndARelationOfAnotherTask) {
  const auto task = make_task("copy");
  Example example = task->example(Split::train, 0);
  example.tokens.resize(5);
  example.source.resize(6);
  const auto message = [&](const char* relation, const Tensor& weights) {
    return error_message([&] { static_cast<void>(score_pattern(*task, example, relation, weights)); });
  };
  EXPECT_EQ(message("diagonal", Tensor(DType::f32, {2, 5, 5})),
            "score_pattern: weights: expected floating [heads, 5, 6], got f32 [2, 5, 5]");
  EXPECT_EQ(message("diagonal", Tensor(DType::f32, {5, 6})),
            "score_pattern: weights: expected floating [heads, 5, 6], got f32 [5, 6]");
  EXPECT_EQ(message("diagonal", Tensor(DType::i64, {2, 5, 6})),
            "score_pattern: weights: expected floating [heads, 5, 6], got i64 [2, 5, 6]");
  EXPECT_EQ(message("match", Tensor(DType::f32, {2, 5, 6})),
            "score_pattern: relation: expected one of the task's: diagonal, got \"match\"");
}

}  // namespace
}  // namespace qkv::task_test
