#include "qkv/softmax.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/error_message.h"

namespace qkv::softmax_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::NanSensitiveDoubleEq;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor row(const std::vector<double>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {values, {size}};
}

TEST(Softmax, WeighsByExp) {
  const double sum = 1 + std::numbers::e + std::exp(2.0);
  EXPECT_THAT(softmax(row({0, 1, 2}), 0).to_vector(),
              ElementsAre(DoubleEq(1 / sum), DoubleEq(std::exp(1.0) / sum), DoubleEq(std::exp(2.0) / sum)));
}

TEST(Softmax, TakesAnyAxis) {
  const Tensor x(std::vector<double>{0, 10, 1, 20, 2, 30}, {3, 2});
  const double sum = 1 + std::exp(-1.0) + std::exp(-2.0);
  const Tensor weights = softmax(x, -2);
  EXPECT_DOUBLE_EQ(weights.at({0, 0}), std::exp(-2.0) / sum);
  EXPECT_DOUBLE_EQ(weights.at({2, 0}), 1 / sum);
}

TEST(Softmax, DoesNotOverflow) {
  EXPECT_THAT(softmax(row({1e300, 1e300}), 0).to_vector(), ElementsAre(0.5, 0.5));
  EXPECT_THAT(log_softmax(row({1000, 0}), 0).to_vector(), ElementsAre(0, -1000));
  EXPECT_THAT(log_softmax(row({1e18, 1e18}), 0).to_vector(), testing::Each(testing::DoubleEq(-std::log(2))));
}

TEST(Softmax, ARowThatSeesNothingIsZero) {
  EXPECT_THAT(softmax(row({-kInfinity, -kInfinity}), 0).to_vector(), ElementsAre(0, 0));
  EXPECT_THAT(log_softmax(row({-kInfinity, -kInfinity}), 0).to_vector(), ElementsAre(-kInfinity, -kInfinity));
}

TEST(Softmax, PassesNanAndPlusInfinityOn) {
  const double nan = std::nan("");
  EXPECT_THAT(softmax(row({0, nan, -kInfinity}), 0).to_vector(),
              ElementsAre(NanSensitiveDoubleEq(nan), NanSensitiveDoubleEq(nan), 0));
  EXPECT_THAT(softmax(row({0, kInfinity}), 0).to_vector(),
              ElementsAre(NanSensitiveDoubleEq(nan), NanSensitiveDoubleEq(nan)));
}

TEST(Softmax, KeepsDtypeAndShape) {
  const Tensor x(DType::f16, {2, 0, 3});
  EXPECT_EQ(softmax(x, 2).shape(), x.shape());
  EXPECT_EQ(softmax(x, 1).dtype(), DType::f16);
}

TEST(Softmax, NamesWhatItCannotTake) {
  const auto message = [](const Tensor& x, int axis) {
    return error_message([&] { static_cast<void>(softmax(x, axis)); });
  };
  EXPECT_EQ(message(Tensor(DType::i32, {2}), 0), "softmax: x: expected f64, f32, f16 or bf16, got i32");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 3}), 2), "softmax: axis: expected an axis of [2, 3], got 2");
}

}  // namespace
}  // namespace qkv::softmax_test
