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
      generate(prompt, {.end = 5, .most = 4}, counting),
      testing::ElementsAre(testing::ElementsAre(2, 3, 4), testing::ElementsAre(4), testing::ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(generate(prompt, {.end = 5, .most = 0}, counting), testing::Each(testing::IsEmpty()));
}

TEST(Generate, HandsOverNewTokensAlone) {
  std::vector<std::vector<double>> asked;
  const Tensor prompt(std::vector<std::int64_t>{0, 1, 2}, {1, 3});
  static_cast<void>(generate(prompt, {.end = 5, .most = 3}, [&](const TensorView& ids) {
    asked.push_back(ids.to_vector());
    return counting(ids);
  }));
  EXPECT_THAT(asked,
              testing::ElementsAre(testing::ElementsAre(0, 1, 2), testing::ElementsAre(3), testing::ElementsAre(4)));
}

TEST(Generate, AsksNoMoreOnceAllHaveEnded) {
  int asked = 0;
  const Tensor prompt(std::vector<std::int64_t>{3, 4}, {2, 1});
  static_cast<void>(generate(prompt, {.end = 5, .most = 100}, [&](const TensorView& ids) {
    ++asked;
    return counting(ids);
  }));
  EXPECT_EQ(asked, 2);
}

TEST(Generate, RefusesWhatHasNoMeaning) {
  const auto message = [](const Tensor& prompt, std::int64_t most) {
    return error_message([&] { static_cast<void>(generate(prompt, {.end = 5, .most = most}, counting)); });
  };
  EXPECT_EQ(message(Tensor(DType::i64, {2, 0}), 1),
            "generate: prompt: expected i64 or i32 [B, T] of one token or more, got i64 [2, 0]");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 1}), 1),
            "generate: prompt: expected i64 or i32 [B, T] of one token or more, got f32 [2, 1]");
  EXPECT_EQ(message(Tensor(DType::i64, {2, 1}), -1), "generate: most: expected 0 or more, got -1");
  const Tensor prompt(DType::i64, {1, 1});
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.temperature = -1}, counting)); }),
            "generate: temperature: expected 0 or more, got -1.000000");
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

TEST(Generate, NeverWritesWhatItMustNot) {
  const Tensor prompt(std::vector<std::int64_t>{0}, {1, 1});
  EXPECT_THAT(generate(prompt, {.most = 2, .never = {1}}, counting), testing::ElementsAre(testing::ElementsAre(0, 0)));
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.most = 1, .never = {6}}, counting)); }),
            "generate: never: expected a token from 0 to 5, got 6");
  EXPECT_EQ(
      error_message([&] { static_cast<void>(generate(prompt, {.most = 1, .never = {0, 1, 2, 3, 4, 5}}, counting)); }),
      "generate: never: expected a token that may be written, got all 6");
  EXPECT_EQ(error_message([&] { static_cast<void>(generate(prompt, {.end = 6, .most = 1}, counting)); }),
            "generate: end: expected a token from 0 to 5, got 6");
}

}  // namespace
}  // namespace qkv::generate_test
