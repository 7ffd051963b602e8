#include "qkv/model/greedy.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv {
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

TEST(Greedy, SaysTheMostLikelyTokenUntilTheLast) {
  const Tensor prompt(std::vector<std::int64_t>{0, 1, 4, 3, 0, 0}, {3, 2});
  EXPECT_THAT(
      greedy(prompt, {.last = 5, .most = 4}, counting),
      testing::ElementsAre(testing::ElementsAre(2, 3, 4), testing::ElementsAre(4), testing::ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(greedy(prompt, {.last = 5, .most = 0}, counting), testing::Each(testing::IsEmpty()));
}

TEST(Greedy, HandsOverNewTokensAlone) {
  std::vector<std::vector<double>> asked;
  const Tensor prompt(std::vector<std::int64_t>{0, 1, 2}, {1, 3});
  static_cast<void>(greedy(prompt, {.last = 5, .most = 3}, [&](const TensorView& ids) {
    asked.push_back(ids.to_vector());
    return counting(ids);
  }));
  EXPECT_THAT(asked,
              testing::ElementsAre(testing::ElementsAre(0, 1, 2), testing::ElementsAre(3), testing::ElementsAre(4)));
}

TEST(Greedy, AsksNoMoreOnceAllHaveEnded) {
  int asked = 0;
  const Tensor prompt(std::vector<std::int64_t>{3, 4}, {2, 1});
  static_cast<void>(greedy(prompt, {.last = 5, .most = 100}, [&](const TensorView& ids) {
    ++asked;
    return counting(ids);
  }));
  EXPECT_EQ(asked, 2);
}

TEST(Greedy, RefusesWhatHasNoMeaning) {
  const auto message = [](const Tensor& prompt, std::int64_t most) {
    return error_message([&] { static_cast<void>(greedy(prompt, {.last = 5, .most = most}, counting)); });
  };
  EXPECT_EQ(message(Tensor(DType::i64, {2, 0}), 1),
            "greedy: prompt: expected i64 [B, T] of one token or more, got i64 [2, 0]");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 1}), 1),
            "greedy: prompt: expected i64 [B, T] of one token or more, got f32 [2, 1]");
  EXPECT_EQ(message(Tensor(DType::i64, {2, 1}), -1), "greedy: most: expected 0 or more, got -1");
}

}  // namespace
}  // namespace qkv
