#include "qkv/model/generate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error_message.h"

namespace qkv::generate_test {
namespace {

// After token t comes t + 1, up to 5.
Variable counting(const TensorView& ids) {
  Tensor scores(DType::f32, {ids.dim(0), ids.dim(1), 6});
  for (std::int64_t b = 0; b < ids.dim(0); ++b) {
    for (std::int64_t t = 0; t < ids.dim(1); ++t) {
      scores.set({b, t, std::min<std::int64_t>(static_cast<std::int64_t>(ids.at({b, t})) + 1, 5)}, 1.0);
    }
  }
  return Variable(std::move(scores));
}

TEST(Generate, WritesTheMostLikelyTokenUntilTheLast) {
  const Tensor prompt(std::vector<std::int64_t>{0, 1, 4, 3, 0, 0}, {3, 2});
  EXPECT_THAT(
      generate(prompt, {.ends = {5}, .most = 4}, counting),
      testing::ElementsAre(testing::ElementsAre(2, 3, 4), testing::ElementsAre(4), testing::ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(generate(prompt, {.ends = {5}, .most = 0}, counting), testing::Each(testing::IsEmpty()));
}

TEST(Generate, HandsOverNewTokensAlone) {
  std::vector<std::vector<double>> asked;
  const Tensor prompt(std::vector<std::int64_t>{0, 1, 2}, {1, 3});
  static_cast<void>(generate(prompt, {.ends = {5}, .most = 3}, [&](const TensorView& ids) {
    asked.push_back(ids.to_vector());
    return counting(ids);
  }));
  EXPECT_THAT(asked,
              testing::ElementsAre(testing::ElementsAre(0, 1, 2), testing::ElementsAre(3), testing::ElementsAre(4)));
}

TEST(Generate, AsksNoMoreOnceAllHaveEnded) {
  int asked = 0;
  const Tensor prompt(std::vector<std::int64_t>{3, 4}, {2, 1});
  static_cast<void>(generate(prompt, {.ends = {5}, .most = 100}, [&](const TensorView& ids) {
    ++asked;
    return counting(ids);
  }));
  EXPECT_EQ(asked, 2);
}

TEST(Generate, RefusesWhatHasNoMeaning) {
  const auto message = [](const Tensor& prompt, std::int64_t most) {
    return error_message([&] { static_cast<void>(generate(prompt, {.ends = {5}, .most = most}, counting)); });
  };
  EXPECT_EQ(message(Tensor(DType::i64, {2, 0}), 1),
            "generate: prompt: expected i64 or i32 [B, T] of one token or more, got i64 [2, 0]");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 1}), 1),
            "generate: prompt: expected i64 or i32 [B, T] of one token or more, got f32 [2, 1]");
  EXPECT_EQ(message(Tensor(DType::i64, {2, 1}), -1), "generate: most: expected 0 or more, got -1");
  const Tensor prompt(DType::i64, {1, 1});
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.temperature = -1}, counting)); }),
            "generate: temperature: expected a finite number, 0 or more, got -1");
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.window = 0}, counting)); }),
            "generate: window: expected 1 or more, got 0");
}

TEST(Generate, DrawsByTheTemperature) {
  const Tensor prompt(std::vector<std::int64_t>(400, 0), {400, 1});
  const auto share_of_best = [&](double temperature) {
    const NewTokens tokens = generate(prompt, {.most = 1, .temperature = temperature, .seed = 3}, counting);
    return static_cast<double>(std::ranges::count(tokens, std::vector<std::int64_t>{1})) / 400;
  };
  // One score of 1 among five of 0: e / (e + 5) at temperature 1, a sixth in the limit. Four deviations of 400 draws.
  const double best = std::numbers::e / (std::numbers::e + 5);
  EXPECT_NEAR(share_of_best(1), best, 4 * std::sqrt(best * (1 - best) / 400));
  EXPECT_NEAR(share_of_best(1e6), 1.0 / 6, 4 * std::sqrt(5.0 / 36 / 400));
  EXPECT_EQ(share_of_best(1e-3), 1);
  const GenerateOptions options{.most = 8, .temperature = 1, .seed = 5};
  EXPECT_EQ(generate(prompt, options, counting), generate(prompt, options, counting));
}

// Of 400 texts after 0, how often each token comes.
std::vector<std::int64_t> counts_of(const GenerateOptions& options) {
  const auto scores = [](const TensorView& ids) {
    Tensor next(DType::f32, {ids.dim(0), 1, 6});
    for (std::int64_t b = 0; b < ids.dim(0); ++b) {
      for (std::int64_t token = 0; token < 6; ++token) {
        next.set({b, 0, token}, std::log(1.0 + static_cast<double>(token)));
      }
    }
    return Variable(std::move(next));
  };
  std::vector<std::int64_t> counts(6);
  for (const auto& text : generate(Tensor(DType::i64, {400, 1}), options, scores)) {
    ++counts[static_cast<std::size_t>(text.at(0))];
  }
  return counts;
}

// Shares of 1 to 6 of 21.
TEST(Generate, DrawsFromWhatIsLeft) {
  using testing::ElementsAre;
  using testing::Gt;
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .top_k = 2}), ElementsAre(0, 0, 0, 0, Gt(100), Gt(100)));
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .top_k = 1}), ElementsAre(0, 0, 0, 0, 0, 400));
  // 6 + 5 + 4 of 21 are 0.71, 6 + 5 are 0.52.
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .top_p = 0.6}), ElementsAre(0, 0, 0, Gt(60), Gt(80), Gt(100)));
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .top_p = 0.01}), ElementsAre(0, 0, 0, 0, 0, 400));
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .min_p = 0.8}), ElementsAre(0, 0, 0, 0, Gt(100), Gt(100)));
  // Of the two that top_k leaves, 6 of 11 are 0.55.
  EXPECT_THAT(counts_of({.most = 1, .temperature = 1, .top_k = 2, .top_p = 0.5}), ElementsAre(0, 0, 0, 0, 0, 400));
}

// Scores [1, 1, 1, 0]: of two that are asked for the third is as likely, and stays; as `transformers` has it.
TEST(Generate, KeepsWhatIsAsLikely) {
  const auto drawn = [](const GenerateOptions& options) {
    const auto scores = [](const TensorView& ids) {
      Tensor next(DType::f32, {ids.dim(0), 1, 4});
      for (std::int64_t b = 0; b < ids.dim(0); ++b) {
        for (std::int64_t token = 0; token < 3; ++token) next.set({b, 0, token}, 1);
      }
      return Variable(std::move(next));
    };
    std::vector<std::int64_t> counts(4);
    for (const auto& text : generate(Tensor(DType::i64, {300, 1}), options, scores)) {
      ++counts[static_cast<std::size_t>(text.at(0))];
    }
    return counts;
  };
  using testing::ElementsAre;
  using testing::Gt;
  EXPECT_THAT(drawn({.most = 1, .temperature = 1, .top_k = 2}), ElementsAre(Gt(70), Gt(70), Gt(70), 0));
  EXPECT_THAT(drawn({.most = 1, .temperature = 1, .top_k = 1}), ElementsAre(Gt(70), Gt(70), Gt(70), 0));
  // Each of the three has a share of 0.30: of equals the last ones are kept.
  EXPECT_THAT(drawn({.most = 1, .temperature = 1, .top_p = 0.5}), ElementsAre(0, Gt(110), Gt(110), 0));
  EXPECT_THAT(drawn({.most = 1, .temperature = 1, .min_p = 1}), ElementsAre(Gt(70), Gt(70), Gt(70), 0));
}

// Memory follows what is written: 2^40 tokens would need 16 TB of draws.
TEST(Generate, EndsLongBeforeItsMost) {
  const NewTokens tokens =
      generate(Tensor(DType::i64, {1, 1}), {.ends = {5}, .most = std::int64_t{1} << 40, .temperature = 1e-3}, counting);
  EXPECT_THAT(tokens, testing::ElementsAre(testing::ElementsAre(1, 2, 3, 4)));
}

TEST(Generate, DrawsLessOfWhatTheTextHas) {
  const Tensor prompt(std::vector<std::int64_t>{0, 1}, {1, 2});
  // After 1 comes 2, whose score of 1 is halved by the penalty from its second time on; then 0 and 1, which have scores
  // of 0, are as likely as without.
  EXPECT_THAT(generate(prompt, {.most = 1, .repetition_penalty = 2}, counting),
              testing::ElementsAre(testing::ElementsAre(2)));
  const auto two_scores = [](const TensorView& ids) {
    Tensor next(std::vector<float>{1.0F, -1.0F, 0.7F}, {1, 1, 3});
    EXPECT_EQ(ids.dim(0), 1);
    return Variable(std::move(next));
  };
  // 1, halved, is below 0.7; -1, doubled, is -2.
  EXPECT_THAT(generate(prompt, {.most = 1, .repetition_penalty = 2}, two_scores),
              testing::ElementsAre(testing::ElementsAre(2)));
  EXPECT_THAT(generate(prompt, {.most = 1}, two_scores), testing::ElementsAre(testing::ElementsAre(0)));
}

TEST(Generate, TellsEachTokenAndStopsWhereItIsTold) {
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  const auto written = [&](std::int64_t text, std::int64_t token) {
    told.emplace_back(text, token);
    return token != 3;
  };
  const Tensor prompt(std::vector<std::int64_t>{0, 3}, {2, 1});
  EXPECT_THAT(generate(prompt, {.ends = {5}, .most = 9, .written = written}, counting),
              testing::ElementsAre(testing::ElementsAre(1, 2, 3), testing::ElementsAre(4)));
  EXPECT_THAT(told,
              testing::ElementsAre(testing::Pair(0, 1), testing::Pair(1, 4), testing::Pair(0, 2), testing::Pair(0, 3)));
}

TEST(Generate, RefusesDrawsThatHaveNoMeaning) {
  const auto message = [](const GenerateOptions& options) {
    return error_message([&] { static_cast<void>(generate(Tensor(DType::i64, {1, 1}), options, counting)); });
  };
  EXPECT_EQ(message({.temperature = 1, .top_k = -1}), "generate: top_k: expected 0 or more, got -1");
  EXPECT_EQ(message({.temperature = 1, .top_p = 0}), "generate: top_p: expected more than 0 and at most 1, got 0");
  EXPECT_EQ(message({.temperature = 1, .min_p = 2}), "generate: min_p: expected 0 to 1, got 2");
  EXPECT_EQ(message({.top_k = 3}), "generate: top_k: expected 0 without a `temperature` above 0, got 3");
  EXPECT_EQ(message({.repetition_penalty = 0}),
            "generate: repetition_penalty: expected a finite number above 0, got 0");
  EXPECT_EQ(message({.beams = 0}), "generate: beams: expected 1 or more, got 0");
  EXPECT_EQ(message({.temperature = 1, .beams = 2}), "generate: temperature: expected 0 beside several beams, got 1");
  EXPECT_EQ(message({.beams = 2}), "generate: beams: expected 1, where rows cannot be kept, got 2");
}

TEST(Generate, NeverWritesWhatItMustNot) {
  const Tensor prompt(std::vector<std::int64_t>{0}, {1, 1});
  EXPECT_THAT(generate(prompt, {.most = 2, .never = {1}}, counting), testing::ElementsAre(testing::ElementsAre(0, 0)));
  EXPECT_THAT(generate(prompt, {.most = 3, .never_first = {1}}, counting),
              testing::ElementsAre(testing::ElementsAre(0, 1, 2)));
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.most = 1, .never = {6}}, counting)); }),
            "generate: never: expected a token from 0 to 5, got 6");
  EXPECT_EQ(
      error_message([&] { static_cast<void>(generate(prompt, {.most = 1, .never = {0, 1, 2, 3, 4, 5}}, counting)); }),
      "generate: never: expected a token that may be written, got all 6");
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.ends = {6}, .most = 1}, counting)); }),
            "generate: ends: expected a token from 0 to 5, got 6");
}

}  // namespace
}  // namespace qkv::generate_test
