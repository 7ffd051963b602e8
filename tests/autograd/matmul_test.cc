#include "qkv/autograd/matmul.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"

namespace qkv::matmul_test {
namespace {

using testing::IsEmpty;

Variable product(const std::vector<Variable>& x) { return matmul(x[0], x[1]); }
Variable affine(const std::vector<Variable>& x) { return linear(x[0], x[1], x[2]); }

const std::vector<std::pair<Shape, Shape>>& shapes() {
  static const std::vector<std::pair<Shape, Shape>> kShapes = {
      {{3, 4}, {4, 5}},    {{1, 4}, {4, 1}},          {{2, 3, 4}, {4, 5}},    {{2, 3, 4}, {2, 4, 5}},
      {{3, 4}, {2, 4, 5}}, {{2, 1, 3, 4}, {3, 4, 2}}, {{2, 3, 1}, {2, 1, 3}}, {{1, 2, 2, 3}, {4, 1, 3, 2}},
  };
  return kShapes;
}

TEST(Matmul, HasTheGradientOfCentralDifferences) {
  for (const auto& [a, b] : shapes()) {
    EXPECT_THAT(gradient_fault(product, {normal_numbers(1, a), normal_numbers(2, b)}), IsEmpty())
        << a.to_string() << " " << b.to_string();
  }
}

// Sums of K products: K / 2 roundings at worst, sqrt(K) where they fall at random; f32 sums also under bf16 and f16.
TEST(Matmul, RoundsLittle) {
  for (const auto& [a, b] : shapes()) {
    const std::vector<Tensor> inputs = {normal_numbers(1, a), normal_numbers(2, b)};
    EXPECT_THAT(precision_fault(product, inputs, DType::f32, 8), IsEmpty());
    EXPECT_THAT(precision_fault(product, inputs, DType::bf16, 3), IsEmpty());
    EXPECT_THAT(precision_fault(product, inputs, DType::f16, 3), IsEmpty());
  }
  const std::vector<Tensor> large = {normal_numbers(1, {200, 300}), normal_numbers(2, {300, 170})};
  EXPECT_THAT(precision_fault(product, large, DType::f32, 2 * std::sqrt(300)), IsEmpty());
  EXPECT_THAT(precision_fault(product, large, DType::bf16, 2), IsEmpty());
  EXPECT_THAT(precision_fault(product, large, DType::f16, 2), IsEmpty());
}

// Numbers that the tile unit has no parts for take another way.
TEST(Matmul, HasInfinityAndNaNWhereTheyBelong) {
  Tensor a(std::vector<float>(std::size_t{128} * 128, 1), {128, 128});
  a.values<float>()[0] = std::numeric_limits<float>::infinity();
  a.values<float>()[128] = std::numeric_limits<float>::quiet_NaN();
  a.values<float>()[256] = 3e38F;
  const Tensor b(std::vector<float>(std::size_t{128} * 128, 1), {128, 128});
  const Tensor out(matmul(Variable(a), Variable(b)).value());
  for (std::int64_t n = 0; n < 128; ++n) {
    EXPECT_EQ(out.view().at({0, n}), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(out.view().at({1, n})));
    EXPECT_EQ(out.view().at({2, n}), static_cast<double>(3e38F));
    EXPECT_EQ(out.view().at({3, n}), 128);
  }
}

TEST(Matmul, ReadsTransposedOperandsWhereTheyLie) {
  const Operation turned = [](const std::vector<Variable>& x) {
    return matmul(transpose(x[0], 0, 1), transpose(x[1], -1, -2));
  };
  const Operation strange = [](const std::vector<Variable>& x) {
    return matmul(permute(x[0], {2, 0, 1}), permute(x[1], {2, 1, 0}));
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    EXPECT_THAT(precision_fault(turned, {normal_numbers(1, {4, 3}), normal_numbers(2, {5, 4})}, dtype, 8), IsEmpty());
    EXPECT_THAT(precision_fault(strange, {normal_numbers(1, {3, 4, 2}), normal_numbers(2, {5, 4, 2})}, dtype, 8),
                IsEmpty());
  }
  EXPECT_THAT(gradient_fault(strange, {normal_numbers(1, {3, 4, 2}), normal_numbers(2, {5, 4, 2})}), IsEmpty());
}

TEST(Matmul, IsTheSameOnAnyNumberOfThreads) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    EXPECT_THAT(threads_fault(product, {normal_numbers(1, {333, 64}), normal_numbers(2, {64, 130})}, dtype), IsEmpty());
    EXPECT_THAT(threads_fault(product, {normal_numbers(1, {5, 33, 64}), normal_numbers(2, {5, 64, 30})}, dtype),
                IsEmpty());
  }
}

TEST(Matmul, TakesWhatHasNoElements) {
  const Variable a(Tensor(DType::f32, {2, 0}));
  const Variable b(Tensor(DType::f32, {0, 3}));
  EXPECT_EQ(matmul(a, b).value().to_vector(), std::vector<double>(6, 0.0));
  EXPECT_EQ(matmul(b, Variable(Tensor(DType::f32, {3, 0}))).shape(), (Shape{0, 0}));
}

TEST(Matmul, NamesTheShapesThatDoNotFit) {
  const Variable a(Tensor(DType::f32, {2, 3}));
  EXPECT_EQ(error_message([&] { (void)matmul(a, a); }), "matmul: b: expected [..., 3, N] for a [2, 3], got [2, 3]");
  EXPECT_EQ(error_message([&] { (void)matmul(Variable(Tensor(DType::f32, {3})), a); }),
            "matmul: a: expected [..., M, K], got [3]");
  EXPECT_EQ(error_message([&] { (void)matmul(a, Variable(Tensor(DType::bf16, {3, 1}))); }),
            "matmul: b: expected f32, the dtype of a, got bf16");
  EXPECT_EQ(error_message(
                [] { (void)matmul(Variable(Tensor(DType::f32, {2, 3, 4})), Variable(Tensor(DType::f32, {3, 4, 5}))); }),
            "matmul: b: expected a shape that broadcasts with [2], that of a, got [3]");
}

TEST(Linear, HasTheGradientOfCentralDifferences) {
  for (const Shape& x : {Shape{3}, Shape{4, 3}, Shape{2, 4, 3}}) {
    const std::vector<Tensor> inputs = {normal_numbers(1, x), normal_numbers(2, {5, 3}), normal_numbers(3, {5})};
    EXPECT_THAT(gradient_fault(affine, inputs), IsEmpty());
  }
}

TEST(Linear, RoundsLittleAndTheSameOnAnyNumberOfThreads) {
  const std::vector<Tensor> inputs = {normal_numbers(1, {3, 100, 65}), normal_numbers(2, {170, 65}),
                                      normal_numbers(3, {170})};
  EXPECT_THAT(precision_fault(affine, inputs, DType::f32, 2 * std::sqrt(300)), IsEmpty());
  EXPECT_THAT(precision_fault(affine, inputs, DType::bf16, 2), IsEmpty());
  EXPECT_THAT(precision_fault(affine, inputs, DType::f16, 2), IsEmpty());
  EXPECT_THAT(threads_fault(affine, inputs, DType::f32), IsEmpty());
  EXPECT_THAT(threads_fault(affine, inputs, DType::bf16), IsEmpty());
  EXPECT_THAT(threads_fault(affine, inputs, DType::f16), IsEmpty());
}

// Enough rows that weights are laid anew and the gradient of the weight is cut along its sum, once in equal pieces.
TEST(Linear, OfManyRowsRoundsLittleAndTheSameOnAnyNumberOfThreads) {
  for (const std::int64_t rows : {1024, 1100}) {
    const std::vector<Tensor> inputs = {normal_numbers(1, {rows, 65}), normal_numbers(2, {40, 65}),
                                        normal_numbers(3, {40})};
    EXPECT_THAT(precision_fault(affine, inputs, DType::f32, 2 * std::sqrt(1100)), IsEmpty());
    EXPECT_THAT(precision_fault(affine, inputs, DType::bf16, 2), IsEmpty());
    EXPECT_THAT(precision_fault(affine, inputs, DType::f16, 2), IsEmpty());
    EXPECT_THAT(threads_fault(affine, inputs, DType::f32), IsEmpty());
    EXPECT_THAT(threads_fault(affine, inputs, DType::bf16), IsEmpty());
    EXPECT_THAT(threads_fault(affine, inputs, DType::f16), IsEmpty());
  }
}

TEST(Linear, KeepsParametersAndTheirGradientsInF32UnderBf16) {
  const Variable x = Variable::parameter(normal_numbers(1, {40, 33}).to(DType::bf16));
  const Variable weight = Variable::parameter(normal_numbers(2, {17, 33}).to(DType::f32));
  const Variable bias = Variable::parameter(normal_numbers(3, {17}).to(DType::f32));
  const Variable y = linear(x, weight, bias);
  EXPECT_EQ(y.dtype(), DType::bf16);
  const Tensor d_y = normal_numbers(4, {40, 17}).to(DType::bf16);
  backward(y, d_y);
  EXPECT_EQ(x.gradient().dtype(), DType::bf16);
  EXPECT_EQ(weight.gradient().dtype(), DType::f32);
  const Variable exact_x =
      Variable::parameter(x.value().dtype() == DType::bf16 ? Tensor(x.value(), DType::f64) : Tensor());
  const Variable exact_weight =
      Variable::parameter(normal_numbers(2, {17, 33}).to(DType::f32).to(DType::bf16).to(DType::f64));
  const Variable exact_bias = Variable::parameter(Tensor(bias.value(), DType::f64));
  backward(linear(exact_x, exact_weight, exact_bias), d_y.to(DType::f64));
  // Sums of 40 products that f32 holds exactly: f32 roundings alone, far below one of bf16.
  for (std::int64_t i = 0; i < 17; ++i) {
    EXPECT_NEAR(bias.gradient().at({i}), exact_bias.gradient().at({i}), 40 * 0x1p-24 * 10);
    for (std::int64_t j = 0; j < 33; ++j) {
      EXPECT_NEAR(weight.gradient().at({i, j}), exact_weight.gradient().at({i, j}), 40 * 0x1p-24 * 20);
    }
  }
}

// A file of f16 computed in bf16.
TEST(Linear, ConvertsParametersOfTheOther16Bits) {
  const Tensor f16_weight = normal_numbers(2, {17, 33}).to(DType::f16);
  const Tensor f16_bias = normal_numbers(3, {17}).to(DType::f16);
  for (const std::int64_t rows : {1, 40}) {
    const Variable x = Variable::parameter(normal_numbers(1, {rows, 33}).to(DType::bf16));
    const Variable weight = Variable::parameter(f16_weight), bias = Variable::parameter(f16_bias);
    const Variable like_weight = Variable::parameter(f16_weight.to(DType::f32).to(DType::bf16));
    const Variable like_bias = Variable::parameter(f16_bias.to(DType::f32).to(DType::bf16));
    const Variable y = linear(x, weight, bias), like = linear(x, like_weight, like_bias);
    ASSERT_EQ(y.dtype(), DType::bf16);
    const Tensor d_y = normal_numbers(4, {rows, 17}).to(DType::bf16);
    backward(y, d_y);
    backward(like, d_y);
    EXPECT_EQ(weight.gradient().dtype(), DType::f16);
    EXPECT_EQ(bias.gradient().dtype(), DType::f16);
    for (std::int64_t j = 0; j < 17; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        EXPECT_NEAR(y.value().at({i, j}), like.value().at({i, j}), 33 * 0x1p-9);  // a weight keeps its bits in few rows
      }
      for (std::int64_t k = 0; k < 33; ++k) {
        const double expected = like_weight.gradient().at({j, k});
        EXPECT_NEAR(weight.gradient().at({j, k}), expected, 0x1p-7 * (1 + std::abs(expected)));
      }
    }
  }
}

// As files of GGUF have them: weights of 16 bits, biases of 32.
TEST(Linear, AddsABiasOf32BitsToAWeightOf16) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Generator draw(5);
    const Tensor x = draw.randn({3, 8}, DType::f32);
    const Tensor weight = Tensor(draw.randn({4, 8}, DType::f32), dtype);
    const Tensor shift(std::vector<float>{1.0000001F, 2, 3, 4}, {4});
    const Variable bias = Variable::parameter(Tensor(shift));
    const Variable got = linear(Variable(Tensor(x)), Variable(Tensor(weight)), bias);
    const Variable wanted = linear(Variable(Tensor(x)), Variable(Tensor(weight, DType::f32)), Variable(Tensor(shift)));
    EXPECT_THAT(got.value().to_vector(), testing::Pointwise(testing::DoubleNear(1e-5), wanted.value().to_vector()));
    backward(got, Tensor(std::vector<float>(12, 1), {3, 4}));
    EXPECT_EQ(bias.gradient().dtype(), DType::f32);
    EXPECT_EQ(bias.gradient().to_vector(), std::vector<double>(4, 3));
  }
}

TEST(Linear, NamesWhatDoesNotFit) {
  const auto zeros = [](const Shape& shape, DType dtype = DType::f32) { return Variable(Tensor(dtype, shape)); };
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}), zeros({5, 4})); }),
            "linear: x: expected [..., 4] for weight [5, 4], got [2, 3]");
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}), zeros({5})); }),
            "linear: weight: expected [Dout, Din], got [5]");
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}), zeros({5, 3}), zeros({4})); }),
            "linear: bias: expected [5], got [4]");
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}), zeros({5, 3}, DType::f64)); }),
            "linear: weight: expected f32, the dtype of x, got f64");
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}, DType::f16), zeros({5, 3}, DType::f64)); }),
            "linear: weight: expected f16, the dtype of x, got f64");
  EXPECT_EQ(error_message([&] { (void)linear(zeros({2, 3}), zeros({5, 3}), zeros({5}, DType::bf16)); }),
            "linear: bias: expected f32, the dtype of weight, got bf16");
  const Variable weight = Variable::parameter(Tensor(DType::f32, {5, 3}));
  const Variable y = linear(Variable::parameter(Tensor(DType::bf16, {2, 3})), weight);
  weight.mutable_value().set({0, 0}, 1);
  EXPECT_EQ(
      error_message([&] { backward(y, Tensor(DType::bf16, {2, 5})); }),
      "backward: weight of linear: expected the value that the forward pass used, got one that was changed since");
}

}  // namespace
}  // namespace qkv::matmul_test
