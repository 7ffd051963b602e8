#include "qkv/train/training.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error_message.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/watch.h"
#include "train/small_model.h"

namespace qkv::training_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::small_training;
using tests::SmallModel;

const auto kGoOn = [](const TrainingStep&) { return Next::go_on; };

TEST(Training, TakesItsStepsInOrderAndLowersTheLoss) {
  const Variable x = Variable::parameter(Tensor(std::vector<double>{3.0}, {}));
  const auto optimizer = make_sgd({{"x", x}});
  std::vector<std::int64_t> batches;
  std::vector<TrainingStep> steps;
  const auto loss = [&](std::int64_t n) {
    batches.push_back(n);
    return BatchLoss{.loss = scale(x * x, static_cast<double>(n % 2 + 1)), .tokens = 5};
  };
  train(*optimizer, loss,
        {.schedule = {.kind = ScheduleKind::constant, .peak = 0.125, .steps = 3}, .accumulation = 2, .clip_norm = {}},
        [&](const TrainingStep& step) {
          steps.push_back(step);
          return Next::go_on;
        });
  EXPECT_THAT(batches, ElementsAre(0, 1, 2, 3, 4, 5));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_DOUBLE_EQ(steps[0].loss, 13.5);          // the mean of 9 and 18
  EXPECT_DOUBLE_EQ(steps[0].gradient_norm, 9.0);  // of 6 and 12
  EXPECT_EQ(steps[0].tokens, 10);
  EXPECT_EQ(steps[2].step, 2);
  EXPECT_EQ(steps[2].learning_rate, 0.125);
  EXPECT_DOUBLE_EQ(x.item(), 3 * 0.625 * 0.625 * 0.625);  // each step takes 0.125 * 3 x away
}

TEST(Training, AccumulatedBatchesAreOneBatchOfAll) {
  // Each element once, in one batch or in four.
  const auto run = [](std::int64_t parts) {
    const Variable x = Variable::parameter(Tensor(std::vector<double>{1, 2, 3, 4}, {4}));
    const auto optimizer = make_sgd({{"x", x}});
    const auto loss = [&](std::int64_t n) {
      const Tensor all(std::vector<double>{1, -2, 3, -4, 5, -6, 7, -8}, {8, 1});
      const std::int64_t rows = 8 / parts;
      const Variable some(Tensor(all.view().slice(0, n % parts * rows, (n % parts + 1) * rows)));
      return BatchLoss{.loss = mean(tanh(some * x)), .tokens = rows};
    };
    train(*optimizer, loss,
          {.schedule = {.kind = ScheduleKind::constant, .peak = 1, .steps = 4}, .accumulation = parts}, kGoOn);
    return x.value().to_vector();
  };
  const std::vector<double> one = run(1);
  const std::vector<double> four = run(4);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], four[i], 1e-14);
}

// Four numbers in batches of one and of three: a mean of means would weigh the first as much as the other three.
TEST(Training, BatchesWeighAsManyTargetsAsTheyHave) {
  const auto run = [](const std::vector<std::pair<std::int64_t, std::int64_t>>& parts) {
    const Variable x = Variable::parameter(Tensor(std::vector<double>{1}, {1}));
    const auto optimizer = make_sgd({{"x", x}});
    const Tensor all(std::vector<double>{1, 2, 3, 6}, {4});
    const auto loss = [&](std::int64_t n) {
      const auto [begin, end] = parts[static_cast<std::size_t>(n)];
      if (begin == end) return BatchLoss{.loss = mean(log(x - x)), .tokens = 1, .targets = 0};
      return BatchLoss{.loss = mean(Variable(Tensor(all.view().slice(0, begin, end))) * x), .targets = end - begin};
    };
    TrainingStep done;
    train(*optimizer, loss,
          {.schedule = {.kind = ScheduleKind::constant, .peak = 0.5, .steps = 1},
           .accumulation = std::ssize(parts),
           .clip_norm = {}},
          [&](const TrainingStep& step) {
            done = step;
            return Next::go_on;
          });
    return std::pair(done, x.item());
  };
  for (const auto& [done, x] : {run({{0, 4}}), run({{0, 1}, {1, 4}}), run({{0, 3}, {3, 3}, {3, 4}})}) {
    EXPECT_DOUBLE_EQ(done.loss, 3);
    EXPECT_DOUBLE_EQ(done.gradient_norm, 3);
    EXPECT_DOUBLE_EQ(x, 1 - 0.5 * 3);
  }
  EXPECT_EQ(error_message<Error>([&] { run({{1, 1}, {2, 2}}); }), "step 1: its batches have no target");
}

TEST(Training, StopsWhereItIsToldTo) {
  const SmallModel model;
  const auto optimizer = make_adamw(model.parameters);
  train(*optimizer, model.loss_of_batch(), small_training(20),
        [](const TrainingStep& step) { return step.step == 4 ? Next::stop : Next::go_on; });
  EXPECT_EQ(optimizer->steps(), 5);
  for (const Parameter& parameter : model.parameters) EXPECT_FALSE(parameter.value.has_gradient());
}

std::string diverged(const LossOfBatch& loss, const Parameters& parameters) {
  const auto optimizer = make_sgd(parameters);
  return error_message<Diverged>([&] { train(*optimizer, loss, {.schedule = {.peak = 0.1, .steps = 5}}, kGoOn); });
}

TEST(Training, ALossThatIsNoNumberNamesStepAndTensor) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>{1, 2}, {2}));
  const auto loss = [&](std::int64_t n) {
    const OperationScope scope("blocks.0");
    const OperationScope inner("attn");
    return BatchLoss{.loss = mean(log(x - Variable(Tensor(std::vector<float>{0, n == 2 ? 9.0F : 0}, {2})))),
                     .tokens = 2};
  };
  EXPECT_EQ(diverged(loss, {{"x", x}}),
            "step 3: the loss is NaN; the first tensor that went bad: the result of log in blocks.0.attn, "
            "[2]");
  EXPECT_FALSE(x.has_gradient());
}

TEST(Training, AGradientThatIsNoNumberNamesTheOperation) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>{4, 0}, {2}));
  const auto loss = [&](std::int64_t) { return BatchLoss{.loss = mean(sqrt(x)), .tokens = 2}; };
  EXPECT_EQ(diverged(loss, {{"x", x}}),
            "step 1: the gradients are not finite; the first tensor that went bad: a gradient that sqrt passes "
            "back, [2]");
  EXPECT_THAT(x.value().to_vector(), ElementsAre(4, 0));  // the step was not taken
}

TEST(Training, AParameterThatIsNoNumberIsNamed) {
  const Variable x = Variable::parameter(Tensor(std::vector<float>{4, 1}, {2}));
  const auto loss = [&](std::int64_t n) {
    if (n == 1) x.mutable_value().set({1}, std::numeric_limits<double>::infinity());
    return BatchLoss{.loss = mean(x - x), .tokens = 2};  // NOLINT(misc-redundant-expression): inf - inf
  };
  EXPECT_THAT(diverged(loss, {{"x", x}}), HasSubstr("step 2: the loss is"));
  EXPECT_THAT(diverged(loss, {{"x", x}}), HasSubstr("went bad: the parameter x"));
}

TEST(Training, RefusesWhatHasNoMeaning) {
  const SmallModel model;
  const auto optimizer = make_adamw(model.parameters);
  const auto message = [&](const TrainingOptions& options) {
    return error_message([&] { train(*optimizer, model.loss_of_batch(), options, kGoOn); });
  };
  EXPECT_EQ(message({.accumulation = 0}), "train: accumulation: expected 1 or more, got 0");
  EXPECT_EQ(message({.clip_norm = 0.0}), "train: clip_norm: expected more than 0, got 0");
  EXPECT_EQ(message({.schedule = {.steps = 0}}), "learning_rate: steps: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::training_test
