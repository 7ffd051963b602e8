#include "qkv/train/schedule.h"

#include <gtest/gtest.h>

#include "core/error_message.h"

namespace qkv::schedule_test {
namespace {

TEST(Schedule, WarmsUpAndFollowsTheCosine) {
  const Schedule schedule = {.kind = ScheduleKind::cosine, .peak = 0.8, .last = 0.2, .warm_up = 4, .steps = 12};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.8);
  EXPECT_NEAR(learning_rate(schedule, 7), 0.5, 1e-15);  // half way from step 3 to step 11
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 11), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 100), 0.2);
}

TEST(Schedule, WithoutWarmUpBeginsAtThePeak) {
  const Schedule schedule = {.kind = ScheduleKind::cosine, .peak = 1, .last = 0, .warm_up = 0, .steps = 3};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1);
  EXPECT_NEAR(learning_rate(schedule, 1), 0.5, 1e-15);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2), 0);
  EXPECT_DOUBLE_EQ(learning_rate({.peak = 1}, 0), 1);
}

TEST(Schedule, ConstantStaysAtThePeak) {
  const Schedule schedule = {.kind = ScheduleKind::constant, .peak = 0.5, .warm_up = 2, .steps = 4};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 9), 0.5);
}

TEST(Schedule, RefusesWhatHasNoMeaning) {
  const auto message = [](const Schedule& schedule, std::int64_t step) {
    return error_message([&] { static_cast<void>(learning_rate(schedule, step)); });
  };
  EXPECT_EQ(message({}, -1), "learning_rate: step: expected 0 or more, got -1");
  EXPECT_EQ(message({.steps = 0}, 0), "learning_rate: steps: expected 1 or more, got 0");
  EXPECT_EQ(message({.warm_up = 2, .steps = 1}, 0), "learning_rate: warm_up: expected from 0 to 1, the steps, got 2");
  EXPECT_EQ(message({.peak = -1}, 0), "learning_rate: peak: expected 0 or more, got -1");
  EXPECT_EQ(message({.peak = 1, .last = 2}, 0), "learning_rate: last: expected from 0 to 1, the peak, got 2");
  EXPECT_EQ(error_message([] { static_cast<void>(schedule_named("linear")); }),
            "schedule_named: schedule: expected constant or cosine, got \"linear\"");
  EXPECT_EQ(schedule_named("constant"), ScheduleKind::constant);
}

}  // namespace
}  // namespace qkv::schedule_test
