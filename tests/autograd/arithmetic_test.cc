#include "qkv/autograd/arithmetic.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::arithmetic_test {
namespace {

using testing::IsEmpty;

// |x| + 0.5, for what must stay away from 0.
Tensor positive(std::uint64_t seed, const Shape& shape) {
  Tensor x = normal_numbers(seed, shape);
  for (double& value : x.values<double>()) value = std::fabs(value) + 0.5;
  return x;
}

struct Case {
  const char* name;
  Operation operation;
  double steps;  // roundings that a result or gradient of this operation may carry, inner steps included
};

Operation of_one(Variable (*function)(const Variable&)) {
  return [function](const std::vector<Variable>& x) { return function(x[0]); };
}

const std::vector<Case>& of_one_variable() {
  static const std::vector<Case> kCases = {
      {"neg", of_one(neg), 1},
      {"exp", of_one(exp), 8},
      {"log", of_one(log), 4},
      {"sqrt", of_one(sqrt), 4},
      {"tanh", of_one(tanh), 16},
      {"sigmoid", of_one(sigmoid), 8},
      {"relu", of_one(relu), 1},
      {"gelu", of_one(gelu), 16},
      {"gelu_tanh", of_one(gelu_tanh), 16},
      {"silu", of_one(silu), 8},
      {"scale", [](const std::vector<Variable>& x) { return 0.3 * x[0]; }, 2},
      {"clamp", [](const std::vector<Variable>& x) { return clamp(x[0], -0.5, 0.75); }, 1},
  };
  return kCases;
}

class OfOne : public testing::TestWithParam<Case> {
 public:
  static Tensor numbers(const Shape& shape) {
    const std::string name = GetParam().name;
    return name == "log" || name == "sqrt" ? positive(1, shape) : normal_numbers(1, shape);
  }
};

TEST_P(OfOne, HasTheGradientOfCentralDifferences) {
  EXPECT_THAT(gradient_fault(GetParam().operation, {numbers({3, 7})}), IsEmpty());
}

TEST_P(OfOne, RoundsLittle) {
  EXPECT_THAT(precision_fault(GetParam().operation, {numbers({40, 17})}, DType::f32, GetParam().steps), IsEmpty());
  EXPECT_THAT(precision_fault(GetParam().operation, {numbers({40, 17})}, DType::bf16, 3), IsEmpty());
  EXPECT_THAT(precision_fault(GetParam().operation, {numbers({40, 17})}, DType::f16, 3), IsEmpty());
}

TEST_P(OfOne, IsTheSameOnAnyNumberOfThreads) {
  EXPECT_THAT(threads_fault(GetParam().operation, {numbers({300, 171})}, DType::f32), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Operations, OfOne, testing::ValuesIn(of_one_variable()),
                         [](const auto& test) { return std::string(test.param.name); });

const std::vector<Case>& of_two_variables() {
  static const std::vector<Case> kCases = {
      {"add", [](const std::vector<Variable>& x) { return x[0] + x[1]; }, 1},
      {"sub", [](const std::vector<Variable>& x) { return x[0] - x[1]; }, 1},
      {"mul", [](const std::vector<Variable>& x) { return x[0] * x[1]; }, 2},
      {"div", [](const std::vector<Variable>& x) { return x[0] / x[1]; }, 4},
  };
  return kCases;
}

class OfTwo : public testing::TestWithParam<Case> {};

TEST_P(OfTwo, BroadcastsAsNumPyDoes) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3}, {2, 3}},    {{2, 3}, {3}},    {{3}, {2, 3}}, {{2, 3}, {}},
      {{2, 1, 3}, {4, 1}}, {{2, 3}, {2, 1}}, {{}, {}},      {{1, 2, 1, 2}, {3, 1, 4, 1}}};
  for (const auto& [a, b] : shapes) {
    EXPECT_THAT(gradient_fault(GetParam().operation, {normal_numbers(1, a), positive(2, b)}), IsEmpty())
        << a.to_string() << " and " << b.to_string();
  }
}

TEST_P(OfTwo, RoundsLittle) {
  // Gradients of what repeats are sums of 40: at most 40 / 2 roundings more, far less since they do not all agree.
  for (const Shape& shape : {Shape{40, 17}, Shape{17}}) {
    const std::vector<Tensor> inputs = {normal_numbers(1, {40, 17}), positive(2, shape)};
    EXPECT_THAT(precision_fault(GetParam().operation, inputs, DType::f32, GetParam().steps + 20), IsEmpty());
    EXPECT_THAT(precision_fault(GetParam().operation, inputs, DType::bf16, 4), IsEmpty());
    EXPECT_THAT(precision_fault(GetParam().operation, inputs, DType::f16, 4), IsEmpty());
  }
}

TEST_P(OfTwo, IsTheSameOnAnyNumberOfThreads) {
  for (const Shape& shape : {Shape{300, 171}, Shape{171}, Shape{300, 1}, Shape{}}) {
    EXPECT_THAT(threads_fault(GetParam().operation, {normal_numbers(1, {300, 171}), positive(2, shape)}, DType::f32),
                IsEmpty());
  }
}

TEST_P(OfTwo, NamesTheShapesThatDoNotFit) {
  const std::string name = GetParam().name;
  const std::vector<Variable> shapes = {Variable(Tensor(DType::f32, {2, 3})), Variable(Tensor(DType::f32, {2, 4}))};
  EXPECT_EQ(error_message([&] { (void)GetParam().operation(shapes); }),
            name + ": b: expected a shape that broadcasts with [2, 3], that of a, got [2, 4]");
  const std::vector<Variable> dtypes = {Variable(Tensor(DType::f32, {2})), Variable(Tensor(DType::bf16, {2}))};
  EXPECT_EQ(error_message([&] { (void)GetParam().operation(dtypes); }),
            name + ": b: expected f32, the dtype of a, got bf16");
  const std::vector<Variable> empty = {Variable(Tensor(DType::f32, {2})), Variable()};
  EXPECT_EQ(error_message([&] { (void)GetParam().operation(empty); }),
            name + ": b: expected a variable, got an empty variable");
}

INSTANTIATE_TEST_SUITE_P(Operations, OfTwo, testing::ValuesIn(of_two_variables()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Clamp, CutsAtBothEnds) {
  const float inf = std::numeric_limits<float>::infinity();
  const Variable x(Tensor(std::vector<float>{-inf, -2, 0.5F, 2, inf, std::nanf("")}, {6}));
  const std::vector<double> cut = clamp(x, -1, 1).value().to_vector();
  EXPECT_THAT(std::vector<double>(cut.begin(), cut.begin() + 5), testing::ElementsAre(-1, -1, 0.5, 1, 1));
  EXPECT_TRUE(std::isnan(cut[5]));
  EXPECT_EQ(clamp(x, -inf, 1).value().at({0}), -inf);
  EXPECT_EQ(error_message([&] { (void)clamp(x, 1, 0); }), "clamp: high: expected low, 1.000000, or more, got 0.000000");
}

TEST(Arithmetic, KeepsWhatIsNotANumber) {
  const float inf = std::numeric_limits<float>::infinity();
  const Variable x(Tensor(std::vector<float>{std::nanf(""), inf, -inf}, {3}));
  for (const auto& function : {exp, tanh, sigmoid, relu, gelu, gelu_tanh, silu}) {
    EXPECT_TRUE(std::isnan(function(x).value().at({0})));
  }
  EXPECT_EQ(exp(x).value().at({1}), inf);
  EXPECT_EQ(exp(x).value().at({2}), 0);
  EXPECT_EQ(gelu(x).value().at({1}), inf);
  EXPECT_EQ(relu(x).value().at({2}), 0);
  EXPECT_TRUE(std::isnan(cast(x, DType::bf16).value().at({0})));
  EXPECT_EQ(cast(x, DType::bf16).value().at({1}), inf);
}

TEST(Arithmetic, GeluKeepsTheDigitsOfItsTail) {
  for (const double x : {-8.0, -5.0, -3.0, -1.0, 0.0, 1.0, 6.0}) {
    const double expected = 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    const Variable y = gelu(Variable(Tensor(std::vector<double>{x}, {1}).to(DType::f32)));
    EXPECT_NEAR(y.item(), expected, 40 * 0x1p-24 * std::fabs(expected))
        << x;  // exp(-32) multiplies its argument's error
  }
}

TEST(Cast, RoundsThereAndBack) {
  const Tensor values = normal_numbers(1, {5, 9});
  const Variable x = Variable::parameter(values.to(DType::f32));
  const Variable y = cast(x, DType::bf16);
  EXPECT_EQ(y.value().to_vector(), values.to(DType::f32).to(DType::bf16).to_vector());
  backward(y, Tensor(values, DType::bf16));
  EXPECT_EQ(x.gradient().dtype(), DType::f32);
  EXPECT_EQ(x.gradient().to_vector(), values.to(DType::bf16).to_vector());
  EXPECT_EQ(error_message([&] { (void)cast(x, DType::i64); }), "cast: dtype: expected f64, f32, bf16 or f16, got i64");
}

}  // namespace
}  // namespace qkv::arithmetic_test
