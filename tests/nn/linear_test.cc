#include "qkv/nn/linear.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "nn/fixture.h"
#include "oracle/matmul.h"
#include "oracle/of_layers.h"

namespace qkv::nn::linear_test {
namespace {

using testing::ElementsAre;

Linear layer_of(Tensor weight) { return Linear(Variable::parameter(std::move(weight))); }

Linear layer_of(Tensor weight, Tensor bias) {
  return Linear(Variable::parameter(std::move(weight)), Variable::parameter(std::move(bias)));
}

RC_GTEST_PROP(Linear, IsThatOfTheOracle, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(0, 11);
  const auto in = *rc::gen::inRange<std::int64_t>(1, 19);
  const auto out = *rc::gen::inRange<std::int64_t>(1, 19);
  Generator generator(1);
  const Linear layer({.in = in, .out = out, .bias = *rc::gen::arbitrary<bool>(), .dtype = DType::f64}, generator);
  const Tensor x = normal({2, rows, in}, 2);
  const std::vector<double> got = layer.forward(Variable(x)).value().to_vector();
  const std::vector<double> want = oracle::linear_of(layer.parameters(), "").forward(x).to_vector();
  RC_ASSERT(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) RC_ASSERT(std::fabs(got[i] - want[i]) <= 1e-12);
}

TEST(OracleMatmul, IsTheSumWrittenDown) {
  const Tensor a = normal({2, 3, 5}, 1);
  const Tensor b = normal({4, 5}, 2);
  const Tensor out = oracle::matmul(a, b.view().transpose(0, 1));
  for (std::int64_t m = 0; m < 3; ++m) {
    double sum = 0;
    for (std::int64_t k = 0; k < 5; ++k) sum += a.at({1, m, k}) * b.at({2, k});
    EXPECT_EQ(out.at({1, m, 2}), sum);
  }
}

TEST(Linear, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("linear");
  const Linear layer = layer_of(tensor_of(fixture.at("weight")), tensor_of(fixture.at("bias")));
  expect_close(layer.forward(Variable(tensor_of(fixture.at("x")))), tensor_of(fixture.at("out")));
}

TEST(Linear, DrawsTheNumbersOfPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("initial");
  Generator generator(7);
  const Linear layer({.in = 20, .out = 5}, generator);
  expect_close(layer.weight(), tensor_of(fixture.at("linear").at("weight")), 1e-6);
  expect_close(layer.bias(), tensor_of(fixture.at("linear").at("bias")), 1e-6);
  Generator again(7);
  const Linear doubles({.in = 3, .out = 4, .dtype = DType::f64}, again);
  expect_close(doubles.weight(), tensor_of(fixture.at("linear_f64").at("weight")), 1e-6);
  expect_close(doubles.bias(), tensor_of(fixture.at("linear_f64").at("bias")), 1e-6);
}

TEST(Linear, HalfPrecisionWeightsAreTheF32OnesRounded) {
  Generator a(3);
  Generator b(3);
  const Linear wide({.in = 4, .out = 2, .bias = false}, a);
  const Linear narrow({.in = 4, .out = 2, .bias = false, .dtype = DType::bf16}, b);
  EXPECT_EQ(narrow.weight().value().to_vector(), Tensor(wide.weight().value(), DType::bf16).to_vector());
  EXPECT_TRUE(narrow.bias().empty());
}

TEST(Linear, TakesAnyLeadingAxes) {
  const Linear layer =
      layer_of(Tensor(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3}), Tensor(std::vector<double>{10, 20}, {2}));
  EXPECT_THAT(layer.forward(Variable(Tensor(std::vector<double>{1, 1, 1}, {3}))).value().to_vector(),
              ElementsAre(16, 35));
  EXPECT_EQ(layer.forward(Variable(normal({2, 1, 4, 3}, 1))).shape(), (Shape{2, 1, 4, 2}));
  EXPECT_EQ(layer.forward(Variable(Tensor(DType::f64, {0, 3}))).shape(), (Shape{0, 2}));
}

TEST(Linear, NamesWhatDoesNotFit) {
  Generator generator(1);
  const Linear layer({.in = 4, .out = 2}, generator);
  EXPECT_EQ(message_of([&] { (void)layer.forward(Variable(normal({2, 3}, 1))); }),
            "linear: x: expected [..., 4] for weight [2, 4], got [2, 3]");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 0, .out = 2}, generator); }), "Linear: in: expected 1 or more, got 0");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 2, .out = -2}, generator); }),
            "Linear: out: expected 1 or more, got -2");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 2, .out = 2, .dtype = DType::u8}, generator); }),
            "Init::uniform: dtype: expected f64, f32, f16 or bf16, got u8");
  EXPECT_EQ(message_of([] { (void)layer_of(Tensor(DType::f32, {3})); }),
            "Linear: weight: expected rank 2 with extents of 1 or more, got [3]");
  EXPECT_EQ(message_of([] { (void)layer_of(Tensor(DType::f32, {3, 2}), Tensor(DType::f32, {2})); }),
            "Linear: bias: expected [3], got [2]");
}

}  // namespace
}  // namespace qkv::nn::linear_test
