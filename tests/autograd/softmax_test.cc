#include "qkv/autograd/softmax.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::softmax_test {
namespace {

using testing::IsEmpty;

Operation softmax_along(int axis) {
  return [axis](const std::vector<Variable>& x) { return softmax(x[0], axis); };
}
Operation log_softmax_along(int axis) {
  return [axis](const std::vector<Variable>& x) { return log_softmax(x[0], axis); };
}

Tensor ids(std::int64_t count, std::int64_t classes) {
  std::vector<std::int64_t> values;
  for (std::int64_t n = 0; n < count; ++n) values.push_back(n % 5 == 2 ? -100 : n * 7 % classes);
  return {values, {count}};
}

Operation loss(std::int64_t count, std::int64_t classes, double smoothing) {
  return [=](const std::vector<Variable>& x) {
    return cross_entropy(x[0], ids(count, classes), {.label_smoothing = smoothing});
  };
}

TEST(Softmax, HasTheGradientOfCentralDifferences) {
  for (const int axis : {0, 1, -1}) {
    EXPECT_THAT(gradient_fault(softmax_along(axis), {normal_numbers(1, {2, 3, 40})}), IsEmpty());
    EXPECT_THAT(gradient_fault(log_softmax_along(axis), {normal_numbers(1, {2, 3, 40})}), IsEmpty());
  }
}

// exp with its argument's rounding, a sum of 100, one division: about 16 roundings.
TEST(Softmax, RoundsLittle) {
  for (const auto& operation : {softmax_along(-1), log_softmax_along(-1)}) {
    EXPECT_THAT(precision_fault(operation, {normal_numbers(1, {70, 100})}, DType::f32, 16), IsEmpty());
    EXPECT_THAT(precision_fault(operation, {normal_numbers(1, {70, 100})}, DType::bf16, 8), IsEmpty());
    EXPECT_THAT(precision_fault(operation, {normal_numbers(1, {70, 100})}, DType::f16, 8), IsEmpty());
    EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {700, 100})}, DType::f32), IsEmpty());
  }
}

TEST(Softmax, ARowThatSeesNothingIsZero) {
  const float inf = std::numeric_limits<float>::infinity();
  const Variable x = Variable::parameter(Tensor(std::vector<float>{-inf, -inf, 0, -inf, NAN, 0}, {3, 2}));
  const std::vector<double> y = softmax(x).value().to_vector();
  EXPECT_EQ((std::vector<double>(y.begin(), y.begin() + 4)), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_TRUE(std::isnan(y[5]));
  EXPECT_EQ(log_softmax(x).value().at({0, 1}), -inf);
}

TEST(CrossEntropy, HasTheGradientOfCentralDifferences) {
  for (const double smoothing : {0.0, 0.1}) {
    EXPECT_THAT(gradient_fault(loss(7, 5, smoothing), {normal_numbers(1, {7, 5})}), IsEmpty());
  }
}

TEST(CrossEntropy, RoundsLittleAndTheSameOnAnyNumberOfThreads) {
  for (const double smoothing : {0.0, 0.1}) {
    const Operation operation = loss(300, 120, smoothing);
    EXPECT_THAT(precision_fault(operation, {normal_numbers(1, {300, 120})}, DType::f32, 16), IsEmpty());
    EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {300, 120})}, DType::f32), IsEmpty());
    EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {300, 120})}, DType::bf16), IsEmpty());
    EXPECT_THAT(threads_fault(operation, {normal_numbers(1, {300, 120})}, DType::f16), IsEmpty());
  }
}

TEST(CrossEntropy, OfBf16IsF32) {
  const Variable logits = Variable::parameter(normal_numbers(1, {3, 5}).to(DType::bf16));
  const Variable y = cross_entropy(logits, ids(3, 5));
  EXPECT_EQ(y.dtype(), DType::f32);
  backward(y);
  EXPECT_EQ(logits.gradient().dtype(), DType::bf16);
}

TEST(CrossEntropy, OfNothingCountedIsNaN) {
  const Variable logits(Tensor(DType::f32, {2, 5}));
  EXPECT_TRUE(std::isnan(cross_entropy(logits, Tensor(std::vector<std::int64_t>{-100, -100}, {2})).item()));
}

TEST(CrossEntropy, CountsEveryPositionWhereNothingIsIgnored) {
  const Variable logits(Tensor(DType::f32, {2, 5}));
  const Tensor targets(std::vector<std::int64_t>{0, -100}, {2});
  EXPECT_EQ(error_message([&] { (void)cross_entropy(logits, targets, {.ignored = std::nullopt}); }),
            "cross_entropy: targets: expected classes from 0 to 4, got -100");
}

TEST(CrossEntropy, NamesWhatDoesNotFit) {
  const Variable logits(Tensor(DType::f32, {2, 5}));
  EXPECT_EQ(error_message([&] { (void)cross_entropy(logits, Tensor(DType::i64, {3})); }),
            "cross_entropy: targets: expected [2] for logits [2, 5], got [3]");
  EXPECT_EQ(error_message([&] { (void)cross_entropy(logits, Tensor(DType::f32, {2})); }),
            "cross_entropy: targets: expected i64 or i32, got f32");
  EXPECT_EQ(error_message([&] { (void)cross_entropy(logits, Tensor(DType::i64, {2}), {.label_smoothing = 1}); }),
            "cross_entropy: label_smoothing: expected a number in [0, 1), got 1");
  EXPECT_EQ(error_message([&] { (void)softmax(logits, 2); }), "softmax: axis: expected an axis of [2, 5], got 2");
}

// Sixteenths and 1024 and more have the same differences in f32, so the gradients have the same bits.
TEST(CrossEntropy, HasTheSameGradientHoweverLargeAllLogitsAre) {
  const std::vector<float> small = {0.5F, -1.25F, 2.0F, 0.0625F, -0.75F, 3.5F};
  const Tensor targets(std::vector<std::int64_t>{1, 0}, {2});
  const auto gradient = [&](float more) {
    std::vector<float> values = small;
    for (float& value : values) value += more;
    const auto logits = Variable::parameter(Tensor(values, {2, 3}));
    backward(cross_entropy(logits, targets));
    return logits.gradient().to_vector();
  };
  EXPECT_EQ(gradient(0.0F), gradient(1024.0F));
  EXPECT_EQ(gradient(0.0F), gradient(-65536.0F));
}

}  // namespace
}  // namespace qkv::softmax_test
