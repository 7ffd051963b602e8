#include "qkv/autograd/dropout.h"

#include <gmock/gmock.h>

#include <limits>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::dropout_test {
namespace {

using testing::IsEmpty;

Operation dropped(double p, std::uint64_t seed) {
  return [=](const std::vector<Variable>& x) { return dropout(x[0], {.p = p, .seed = seed}); };
}

TEST(Dropout, KeepsWhatTheCounterSays) {
  constexpr double kP = 0.3;
  constexpr std::uint64_t kSeed = 0x123456789ABCDEFU;
  Tensor ones(DType::f64, {4, 3, 301});
  for (double& value : ones.values<double>()) value = 1;
  const Variable y = dropped(kP, kSeed)({Variable(ones)});
  for (std::int64_t row = 0; row < 12; ++row) {
    for (std::int64_t j = 0; j < 301; ++j) {
      const double expected = dropout_keeps(kSeed, kP, {.i = row, .j = j}) ? 1 / (1 - kP) : 0;
      ASSERT_EQ(y.value().at({row / 3, row % 3, j}), expected) << row << " " << j;
    }
  }
}

TEST(Dropout, HasTheGradientOfCentralDifferences) {
  EXPECT_THAT(gradient_fault(dropped(0.5, 1), {normal_numbers(1, {3, 9})}), IsEmpty());
  EXPECT_THAT(threads_fault(dropped(0.5, 1), {normal_numbers(1, {300, 99})}, DType::f32), IsEmpty());
}

TEST(Dropout, OfNothingIsTheVariableItself) {
  const Variable x(Tensor(DType::f32, {2}));
  EXPECT_EQ(dropout(x, {.p = 0}).body(), x.body());
  EXPECT_EQ(error_message([&] { (void)dropout(x, {.p = 1}); }), "dropout: p: expected a probability in [0, 1), got 1");
}

TEST(Dropout, KeepsInfinityAndDropsNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  const Variable x(Tensor(std::vector<double>(64, inf), {64}));
  for (const double value : dropout(x, {.p = 0.5, .seed = 3}).value().to_vector()) {
    EXPECT_TRUE(value == 0 || value == inf);
  }
}

}  // namespace
}  // namespace qkv::dropout_test
