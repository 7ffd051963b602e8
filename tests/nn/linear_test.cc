#include "qkv/nn/linear.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "nn/fixture.h"
#include "qkv/nn/matmul.h"

namespace qkv::nn {
namespace {

using testing::ElementsAre;

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  return Generator(seed).randn(shape, dtype);
}

RC_GTEST_PROP(Matmul, IsTheSumWrittenDown, ()) {
  const auto M = *rc::gen::inRange<std::int64_t>(0, 11);
  const auto K = *rc::gen::inRange<std::int64_t>(1, 19);
  const auto N = *rc::gen::inRange<std::int64_t>(1, 19);
  const Tensor a = normal({2, M, K}, 1);
  const Tensor b = normal({N, K}, 2);
  const Tensor out = matmul(a, b.view().transpose(0, 1));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t m = 0; m < M; ++m) {
      for (std::int64_t n = 0; n < N; ++n) {
        double sum = 0;
        for (std::int64_t k = 0; k < K; ++k) sum += a.at({i, m, k}) * b.at({n, k});
        RC_ASSERT(out.at({i, m, n}) == sum);
      }
    }
  }
}

TEST(Matmul, RoundsOnceToTheDtypeOfA) {
  const Tensor a(std::vector<float>{1, 0x1p-30F, -1}, {1, 3});
  const Tensor b(std::vector<double>{1, 1, 1}, {3, 1});
  EXPECT_EQ(matmul(a, b).at({0, 0}), 0x1p-30);  // f32 sums would lose it
  EXPECT_EQ(matmul(a, b).dtype(), DType::f32);
}

TEST(Matmul, NamesTheWidthThatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)matmul(normal({2, 3}, 1), normal({4, 5}, 1)); }),
            "matmul: a: expected a last axis of 4, got [2, 3]");
  EXPECT_EQ(message_of([] { (void)matmul(normal({2, 3}, 1), normal({3}, 1)); }),
            "matmul: b: expected rank 2, [K, N], got [3]");
  EXPECT_EQ(message_of([] { (void)matmul(Tensor(DType::i64, {2, 3}), normal({3, 1}, 1)); }),
            "matmul: a: expected f64, f32, f16 or bf16, got i64");
}

TEST(Linear, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("linear");
  const Linear layer(tensor_of(fixture.at("weight")), tensor_of(fixture.at("bias")));
  const Tensor x = tensor_of(fixture.at("x"));
  expect_close(layer.forward(x), tensor_of(fixture.at("out")));
  // f32 input: the f64 answer of the rounded input, rounded once.
  const Tensor rounded = x.to(DType::f32);
  EXPECT_EQ(layer.forward(rounded).to_vector(), layer.forward(rounded.to(DType::f64)).to(DType::f32).to_vector());
}

TEST(Linear, DrawsTheNumbersOfPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("initial");
  Generator generator(7);
  const Linear layer({.in = 20, .out = 5}, generator);
  expect_close(layer.weight(), tensor_of(fixture.at("linear").at("weight")), 1e-6);
  expect_close(*layer.bias(), tensor_of(fixture.at("linear").at("bias")), 1e-6);
  Generator again(7);
  const Linear doubles({.in = 3, .out = 4, .dtype = DType::f64}, again);
  expect_close(doubles.weight(), tensor_of(fixture.at("linear_f64").at("weight")), 1e-6);
  expect_close(*doubles.bias(), tensor_of(fixture.at("linear_f64").at("bias")), 1e-6);
}

TEST(Linear, HalfPrecisionWeightsAreTheF32OnesRounded) {
  Generator a(3);
  Generator b(3);
  const Linear wide({.in = 4, .out = 2, .bias = false}, a);
  const Linear narrow({.in = 4, .out = 2, .bias = false, .dtype = DType::bf16}, b);
  EXPECT_EQ(narrow.weight().to_vector(), wide.weight().to(DType::bf16).to_vector());
  EXPECT_FALSE(narrow.bias().has_value());
}

TEST(Linear, ASliceIsTheSameMapOfFewerOutputs) {
  Generator generator(3);
  const Linear layer({.in = 4, .out = 6, .dtype = DType::f64}, generator);
  const Tensor x = normal({3, 4}, 5);
  EXPECT_EQ(layer.slice(2, 5).forward(x).to_vector(), Tensor(layer.forward(x).view().slice(1, 2, 5)).to_vector());
}

TEST(Linear, TakesAnyLeadingAxes) {
  const Linear layer(Tensor(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3}), Tensor(std::vector<double>{10, 20}, {2}));
  EXPECT_THAT(layer.forward(Tensor(std::vector<double>{1, 1, 1}, {3})).to_vector(), ElementsAre(16, 35));
  EXPECT_EQ(layer.forward(normal({2, 1, 4, 3}, 1)).shape(), (Shape{2, 1, 4, 2}));
  EXPECT_EQ(layer.forward(Tensor(DType::f64, {0, 3})).shape(), (Shape{0, 2}));
}

TEST(Linear, NamesWhatDoesNotFit) {
  Generator generator(1);
  const Linear layer({.in = 4, .out = 2}, generator);
  EXPECT_EQ(message_of([&] { (void)layer.forward(normal({2, 3}, 1)); }),
            "Linear: x: expected a last axis of 4, got [2, 3]");
  EXPECT_EQ(message_of([&] { (void)layer.forward(Tensor(DType::i64, {2, 4})); }),
            "Linear: x: expected f64, f32, f16 or bf16, got i64");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 0, .out = 2}, generator); }), "Linear: in: expected 1 or more, got 0");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 2, .out = -2}, generator); }),
            "Linear: out: expected 1 or more, got -2");
  EXPECT_EQ(message_of([&] { (void)Linear({.in = 2, .out = 2, .dtype = DType::u8}, generator); }),
            "Linear: dtype: expected f64, f32, f16 or bf16, got u8");
  EXPECT_EQ(message_of([] { (void)Linear(Tensor(DType::f32, {3})); }),
            "Linear: weight: expected rank 2 with extents of 1 or more, got [3]");
  EXPECT_EQ(message_of([] { (void)Linear(Tensor(DType::f32, {3, 2}), Tensor(DType::f32, {2})); }),
            "Linear: bias: expected [3], got [2]");
}

}  // namespace
}  // namespace qkv::nn
