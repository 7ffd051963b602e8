#include "qkv/autograd/reduce.h"

#include <gmock/gmock.h>

#include <cmath>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::reduce_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Operation mean_over(const std::vector<int>& axes, ReducedAxes reduced = ReducedAxes::drop) {
  return [axes, reduced](const std::vector<Variable>& x) { return mean(x[0], axes, reduced); };
}

TEST(Reduce, HasTheGradientOfCentralDifferences) {
  const Tensor x = normal_numbers(1, {2, 3, 2, 4});
  for (const auto& axes : std::vector<std::vector<int>>{{}, {0}, {1}, {3}, {-1}, {0, 2}, {1, 2}, {0, 1, 2, 3}}) {
    EXPECT_THAT(gradient_fault(mean_over(axes), {x}), IsEmpty());
    EXPECT_THAT(gradient_fault(mean_over(axes, ReducedAxes::keep), {x}), IsEmpty());
  }
  EXPECT_THAT(gradient_fault([](const std::vector<Variable>& v) { return sum(v[0]); }, {x}), IsEmpty());
}

TEST(Reduce, SumsWhatItSays) {
  const Variable x(Tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(sum(x).item(), 21);
  EXPECT_EQ(mean(x).item(), 3.5);
  EXPECT_EQ(sum(x).rank(), 0);
  EXPECT_THAT(sum(x, {0}).value().to_vector(), ElementsAre(5, 7, 9));
  EXPECT_THAT(mean(x, {-1}).value().to_vector(), ElementsAre(2, 5));
  EXPECT_EQ(sum(x, {1}, ReducedAxes::keep).shape(), (Shape{2, 1}));
  EXPECT_EQ(sum(Variable(Tensor(DType::f32, {0, 3})), {0}).value().to_vector(), std::vector<double>(3, 0.0));
  EXPECT_TRUE(std::isnan(mean(Variable(Tensor(DType::f32, {0}))).item()));
}

TEST(Reduce, RoundsLittle) {
  // A lane adds at most 1024 numbers in a row: sqrt(1024) roundings if they fall at random, twice that allowed.
  for (const auto& axes : std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
    Tensor x = normal_numbers(1, {700, 90});
    for (double& value : x.values<double>()) value += 1;
    EXPECT_THAT(precision_fault(mean_over(axes), {x}, DType::f32, 64), IsEmpty());
    EXPECT_THAT(precision_fault(mean_over(axes), {x}, DType::bf16, 2), IsEmpty());
    EXPECT_THAT(precision_fault(mean_over(axes), {x}, DType::f16, 2), IsEmpty());
  }
}

TEST(Reduce, IsTheSameOnAnyNumberOfThreads) {
  for (const auto& axes : std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) {
    EXPECT_THAT(threads_fault(mean_over(axes), {normal_numbers(1, {700, 90})}, DType::f32), IsEmpty());
  }
}

TEST(Reduce, NamesAnAxisThatIsNotThere) {
  const Variable x(Tensor(DType::f32, {2, 3}));
  EXPECT_EQ(error_message([&] { (void)sum(x, {2}); }), "sum: axes: expected axes of [2, 3], got 2");
  EXPECT_EQ(error_message([&] { (void)mean(x, {0, -2}); }), "mean: axes: expected each axis once, got -2 again");
  EXPECT_EQ(error_message([&] { (void)sum(Variable()); }), "sum: x: expected a variable, got an empty variable");
}

}  // namespace
}  // namespace qkv::reduce_test
