// Products with a weight where few rows or no gradients are wanted: as it lies, or packed and kept.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "autograd/gradient_check.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/threads.h"

namespace qkv::linear_inference_test {
namespace {

using testing::IsEmpty;

Variable affine(const std::vector<Variable>& x) { return linear(x[0], x[1], x[2]); }
Variable without_gradients(const std::vector<Variable>& x) {
  const NoGradient none;
  return linear(x[0], x[1], x[2]);
}

std::vector<Tensor> inputs_of(std::int64_t M, std::int64_t N, std::int64_t K) {
  return {normal_numbers(1, {M, K}), normal_numbers(2, {N, K}), normal_numbers(3, {N})};
}

// Widths that no step of a loop divides, and those that all do.
TEST(FewRows, RoundLittleAndTheSameOnAnyNumberOfThreads) {
  for (const std::int64_t K : {1, 15, 16, 47, 48, 64, 300}) {
    for (const std::int64_t M : {1, 3, 8}) {
      SCOPED_TRACE(std::to_string(M) + " rows of " + std::to_string(K));
      const std::vector<Tensor> inputs = inputs_of(M, 203, K);
      EXPECT_THAT(precision_fault(affine, inputs, DType::f32, 2 * std::sqrt(std::max<std::int64_t>(K, 203))),
                  IsEmpty());
      EXPECT_THAT(precision_fault(affine, inputs, DType::bf16, 3), IsEmpty());
      EXPECT_THAT(precision_fault(affine, inputs, DType::f16, 3), IsEmpty());
      EXPECT_THAT(threads_fault(affine, inputs, DType::f32), IsEmpty());
    }
  }
}

TEST(FewRows, ReadAWeightInItsOwnDtype) {
  const Tensor x = normal_numbers(1, {2, 70}).to(DType::f32);
  const Tensor weight = normal_numbers(2, {33, 70});
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    const Tensor rounded = weight.to(dtype);
    const Tensor exact(linear(Variable(x.to(DType::f64)), Variable(rounded.to(DType::f64))).value());
    const Tensor out(linear(Variable(x), Variable(rounded)).value());
    // Sums of 70 products of the order of 1: 70 roundings of 2^-24 of sums below 64.
    for (std::int64_t i = 0; i < 33; ++i) {
      EXPECT_NEAR(out.view().at({1, i}), exact.view().at({1, i}), 70 * 64 * 0x1p-24);
    }
  }
}

TEST(KeptWeight, GivesWhatARecordedCallGives) {
  for (const std::int64_t M : {9, 16, 50, 256, 300}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", rows: " + std::to_string(M));
      std::vector<Variable> inputs;
      for (const Tensor& input : inputs_of(M, 203, 65)) inputs.push_back(Variable::parameter(input.to(dtype)));
      const Variable recorded = affine(inputs);
      for (int call = 0; call < 3; ++call) {
        const Tensor difference((without_gradients(inputs) - recorded).value());
        // 65 products of the order of 1: f32 sums of another order, and one rounding to bf16 of results below 64.
        const double allowed = dtype == DType::f32 ? 2 * 65 * 64 * 0x1p-24 : 64 * 0x1p-8;
        for (const double element : difference.to_vector()) ASSERT_LE(std::fabs(element), allowed) << "call " << call;
      }
      const int before = threads();
      set_threads(1);
      const std::vector<double> alone = without_gradients(inputs).value().to_vector();
      set_threads(3);
      EXPECT_EQ(without_gradients(inputs).value().to_vector(), alone);
      set_threads(before);
    }
  }
}

// It is cut into as many pieces as there are threads when it is packed.
TEST(KeptWeight, GivesTheSameDigitsOnAnyNumberOfThreads) {
  const int before = threads();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<double> alone;
    for (const int count : {1, 2, 5}) {
      set_threads(count);
      std::vector<Variable> inputs;
      for (const Tensor& input : inputs_of(150, 700, 650)) inputs.emplace_back(input.to(dtype));
      static_cast<void>(without_gradients(inputs));
      const std::vector<double> packed = without_gradients(inputs).value().to_vector();
      if (count == 1) alone = packed;
      EXPECT_EQ(packed, alone) << name_of(dtype) << ", threads: " << count;
    }
  }
  set_threads(before);
}

TEST(KeptWeight, IsForgottenWhenTheWeightIsWritten) {
  const Variable x(normal_numbers(1, {20, 64}).to(DType::f32));
  const Variable weight = Variable::parameter(normal_numbers(2, {128, 64}).to(DType::f32));
  const NoGradient none;
  for (int call = 0; call < 3; ++call) (void)linear(x, weight);
  weight.replace_value(Tensor(DType::f32, {128, 64}));
  for (int call = 0; call < 3; ++call) EXPECT_THAT(linear(x, weight).value().to_vector(), testing::Each(0)) << call;
  static_cast<float*>(weight.mutable_value().data())[0] = 1;
  for (int call = 0; call < 3; ++call) EXPECT_EQ(linear(x, weight).value().at({3, 0}), x.value().at({3, 0})) << call;
}

// A weight that serves in two dtypes keeps the last one.
TEST(KeptWeight, ServesEachDtype) {
  const Tensor x = normal_numbers(1, {20, 64});
  const Variable weight = Variable::parameter(normal_numbers(2, {128, 64}).to(DType::f32));
  const NoGradient none;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f32, DType::bf16, DType::bf16, DType::bf16}) {
    EXPECT_EQ(linear(Variable(x.to(dtype)), weight).dtype(), dtype);
  }
}

}  // namespace
}  // namespace qkv::linear_inference_test
