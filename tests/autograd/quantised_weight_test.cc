// Weights in the blocks of their file: products, what they pass back, and rows of a table.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "core/random_blocks.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/shape.h"
#include "qkv/threads.h"

namespace qkv::quantised_weight_test {
namespace {

using core::BlockType;

Variable parameter_of(const QuantisedTensor& blocks) {
  Variable parameter = Variable::parameter(Tensor(DType::f32, blocks.shape()));
  parameter.replace_value(blocks);
  return parameter;
}

struct Sum {
  double exact = 0;
  double allowed = 0;
};

// Of x and a row in f64, and by how much numbers of x in 8 bits, groups of f32 sums and a result of this dtype err.
Sum sum_of(const Tensor& x, const Tensor& weight, std::int64_t m, std::int64_t n, DType dtype) {
  const std::int64_t K = weight.dim(1);
  Sum sum;
  double size = 0;
  for (std::int64_t first = 0; first < K; first += 32) {
    double most = 0;
    double weights = 0;
    for (std::int64_t k = first; k < first + 32; ++k) {
      sum.exact += x.at({m, k}) * weight.at({n, k});
      most = std::max(most, std::fabs(x.at({m, k})));
      weights += std::fabs(weight.at({n, k}));
    }
    sum.allowed += 1.001 * most / 254 * weights;
    size += 32 * most * weights;
  }
  const double result = dtype == DType::f32 ? 0x1p-24 : dtype == DType::f16 ? 0x1p-11 : 0x1p-9;
  sum.allowed += 0x1p-24 * static_cast<double>(K / 64 + 12) * size + result * (std::fabs(sum.exact) + sum.allowed);
  return sum;
}

TEST(QuantisedLinear, ErrsByTheEightBitsOfXAlone) {
  for (const BlockType type : tests::block_types()) {
    const QuantisedTensor blocks = tests::random_weight(type, 37, 256, 0.1F);
    const Variable weight = parameter_of(blocks);
    const Tensor numbers = blocks.dequantised();
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      for (const std::int64_t M : {1, 5, 20}) {
        const Tensor x = normal_numbers(1, {M, 256}).to(dtype);
        const Variable out = linear(Variable(x), weight);
        ASSERT_EQ(out.dtype(), dtype);
        for (std::int64_t m = 0; m < M; ++m) {
          for (std::int64_t n = 0; n < 37; ++n) {
            const Sum sum = sum_of(x, numbers, m, n, dtype);
            ASSERT_NEAR(out.value().at({m, n}), sum.exact, sum.allowed)
                << blocks.type_name() << ", " << name_of(dtype) << ": " << m << ", " << n;
          }
        }
      }
    }
  }
}

TEST(QuantisedLinear, AddsABiasOfAnyDtypeAndTakesLeadingAxes) {
  const Variable weight = parameter_of(tests::random_weight(BlockType::q4_0, 6, 32));
  const Variable x(normal_numbers(1, {2, 3, 32}).to(DType::f32));
  const Variable plain = linear(x, weight);
  ASSERT_EQ(plain.shape(), (Shape{2, 3, 6}));
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const Variable bias(normal_numbers(2, {6}).to(dtype));
    const Tensor both(linear(x, weight, bias).value());
    for (std::int64_t n = 0; n < 6; ++n) {
      const auto sum = static_cast<float>(plain.value().at({1, 2, n})) + static_cast<float>(bias.value().at({n}));
      EXPECT_EQ(both.at({1, 2, n}), sum);
    }
  }
}

// More rows than a piece of the weight has, and fewer.
TEST(QuantisedLinear, PassesBackWhatTheNumbersOfTheWeightDo) {
  struct Case {
    BlockType type;
    std::int64_t N, K;
  };
  for (const Case& one :
       {Case{BlockType::q4_1, 40, 96}, Case{BlockType::q6_k, 9, 256}, Case{BlockType::q8_0, 70000, 32}}) {
    const QuantisedTensor blocks = tests::random_weight(one.type, one.N, one.K, 0.1F);
    const Variable x = Variable::parameter(normal_numbers(1, {3, one.K}).to(DType::f32));
    const Variable bias = Variable::parameter(normal_numbers(2, {one.N}).to(DType::f32));
    const Variable out = linear(x, parameter_of(blocks), bias);
    const Tensor d_out = normal_numbers(3, {3, one.N}).to(DType::f32);
    backward(out, d_out);
    const Tensor numbers = blocks.dequantised();
    for (std::int64_t m = 0; m < 3; ++m) {
      for (const std::int64_t k : {std::int64_t{0}, one.K / 2, one.K - 1}) {
        double sum = 0;
        double size = 0;
        for (std::int64_t n = 0; n < one.N; ++n) {
          const double product = d_out.at({m, n}) * numbers.at({n, k});
          sum += product;
          size += std::fabs(product);
        }
        EXPECT_NEAR(x.gradient().at({m, k}), sum, 0x1p-24 * 2 * std::sqrt(static_cast<double>(one.N)) * size)
            << blocks.type_name() << ": " << m << ", " << k;
      }
    }
    for (const std::int64_t n : {std::int64_t{0}, one.N - 1}) {
      const double sum = d_out.at({0, n}) + d_out.at({1, n}) + d_out.at({2, n});
      EXPECT_NEAR(bias.gradient().at({n}), sum, 0x1p-22 * (1 + std::fabs(sum)));
    }
  }
}

// `d` may have any numbers where there is nothing to add up.
TEST(QuantisedLinear, PassesBackZerosOfAWeightWithoutRows) {
  const Variable weight = parameter_of(QuantisedTensor(BlockType::q8_0, {0, 32}, {}, nullptr));
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Variable x = Variable::parameter(normal_numbers(1, {3, 32}).to(dtype));
    backward(linear(x, weight), Tensor(dtype, {3, 0}));
    EXPECT_THAT(x.gradient().to_vector(), testing::AllOf(testing::SizeIs(96), testing::Each(0)));
  }
}

TEST(QuantisedLinear, HasTheSameBitsOnAnyNumberOfThreads) {
  const Variable weight = parameter_of(tests::random_weight(BlockType::q4_1, 3000, 576, 0.1F));
  const auto product = [&](const std::vector<Variable>& x) { return linear(x[0], weight); };
  for (const std::int64_t M : {1, 7, 40}) {
    EXPECT_THAT(threads_fault(product, {normal_numbers(1, {M, 576})}, DType::f32), testing::IsEmpty()) << M;
    EXPECT_THAT(threads_fault(product, {normal_numbers(1, {M, 576})}, DType::bf16), testing::IsEmpty()) << M;
  }
}

TEST(QuantisedEmbedding, IsTheRowsOfTheTableToTheLastBit) {
  const QuantisedTensor blocks = tests::random_weight(BlockType::q5_k, 11, 256);
  const Variable table = parameter_of(blocks);
  const Tensor ids(std::vector<std::int64_t>{3, 10, 0, 3}, {2, 2});
  const Variable rows = embedding(table, ids);
  const Variable expected = embedding(Variable(blocks.dequantised()), ids);
  EXPECT_EQ(rows.shape(), (Shape{2, 2, 256}));
  EXPECT_EQ(rows.value().to_vector(), expected.value().to_vector());
  EXPECT_FALSE(rows.requires_gradient());
  EXPECT_EQ(error_message([&] { static_cast<void>(embedding(table, Tensor(std::vector<std::int64_t>{11}, {1}))); }),
            "embedding: ids: expected ids from 0 to 10, got 11");
}

TEST(QuantisedParameter, HasItsNumbersForAllOtherOperations) {
  const QuantisedTensor blocks = tests::random_weight(BlockType::q4_k, 4, 256);
  const Variable parameter = parameter_of(blocks);
  EXPECT_EQ(parameter.dtype(), DType::f32);
  EXPECT_EQ(parameter.shape(), (Shape{4, 256}));
  EXPECT_EQ(parameter.size(), 1024);
  ASSERT_NE(parameter.quantised(), nullptr);
  EXPECT_EQ(parameter.quantised()->blocks().data(), blocks.blocks().data());
  const std::vector<double> numbers = blocks.dequantised().to_vector();
  EXPECT_EQ(slice(parameter, 0, 1, 2).value().to_vector(),
            std::vector<double>(numbers.begin() + 256, numbers.begin() + 512));
  EXPECT_EQ(concat({parameter, parameter}, 0).value().slice(0, 4, 8).to_vector(), numbers);
  EXPECT_EQ(parameter.value().to_vector(), numbers);
  EXPECT_EQ(parameter.detach().value().to_vector(), numbers);
  parameter.replace_value(Tensor(DType::f32, {4, 256}));
  EXPECT_EQ(parameter.quantised(), nullptr);
  EXPECT_TRUE(parameter.requires_gradient());
}

TEST(QuantisedParameter, IsNotTrained) {
  const Variable weight = parameter_of(tests::random_weight(BlockType::q4_1, 8, 32));
  const Variable x = Variable::parameter(normal_numbers(1, {2, 32}).to(DType::f32));
  backward(linear(x, weight), Tensor(DType::f32, {2, 8}));
  EXPECT_FALSE(weight.requires_gradient());
  EXPECT_TRUE(weight.is_leaf());
  EXPECT_FALSE(weight.has_gradient());
  weight.clear_gradient();
  EXPECT_EQ(
      error_message([&] { static_cast<void>(weight.mutable_value()); }),
      "Variable::mutable_value: this: expected numbers that can be written, got a quantised weight, Q4_1, which is "
      "not trained");
  EXPECT_EQ(error_message([&] { weight.on_gradient([](const Variable& d) { return d; }); }),
            "Variable::on_gradient: this: expected a variable that requires a gradient, got a constant");
}

TEST(QuantisedParameter, NamesWhatDoesNotFit) {
  const Variable weight = parameter_of(tests::random_weight(BlockType::q8_0, 4, 64));
  const auto product = [&](const Tensor& x) {
    return error_message([&] { static_cast<void>(linear(Variable(x), weight)); });
  };
  EXPECT_EQ(product(Tensor(DType::f32, {2, 63})), "linear: x: expected [..., 64] for weight [4, 64], got [2, 63]");
  EXPECT_EQ(product(Tensor(DType::f64, {2, 64})), "linear: weight: expected f64, the dtype of x, got f32");
  EXPECT_EQ(
      error_message([&] {
        static_cast<void>(linear(Variable(Tensor(DType::f32, {2, 64})), weight, Variable(Tensor(DType::f64, {4}))));
      }),
      "linear: bias: expected f32, the dtype of weight, got f64");
  EXPECT_EQ(error_message([&] { weight.replace_value(tests::random_weight(BlockType::q8_0, 4, 32)); }),
            "Variable::replace_value: value: expected [4, 64], got [4, 32]");
}

}  // namespace
}  // namespace qkv::quantised_weight_test
