#include "qkv/autograd/norm.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"

namespace qkv::norm_test {
namespace {

using testing::IsEmpty;

Variable centred(const std::vector<Variable>& x) { return layer_norm(x[0], x[1], x[2]); }
Variable plain(const std::vector<Variable>& x) { return rms_norm(x[0], x[1]); }

std::vector<Tensor> numbers(const Shape& shape, std::size_t count) {
  const Shape row = {shape[shape.rank() - 1]};
  std::vector<Tensor> all = {normal_numbers(1, shape), normal_numbers(2, row), normal_numbers(3, row)};
  all.resize(count);
  return all;
}

TEST(Norm, HasTheGradientOfCentralDifferences) {
  for (const Shape& shape : {Shape{5}, Shape{3, 5}, Shape{2, 2, 40}}) {
    EXPECT_THAT(gradient_fault(centred, numbers(shape, 3)), IsEmpty());
    EXPECT_THAT(gradient_fault(plain, numbers(shape, 2)), IsEmpty());
  }
}

// Sums over 100 columns and, for the gradients of weight and bias, 300 rows: sqrt(300) roundings at random, doubled.
TEST(Norm, RoundsLittle) {
  EXPECT_THAT(precision_fault(centred, numbers({3, 100, 100}, 3), DType::f32, 36), IsEmpty());
  EXPECT_THAT(precision_fault(plain, numbers({3, 100, 100}, 2), DType::f32, 36), IsEmpty());
  EXPECT_THAT(precision_fault(centred, numbers({3, 100, 100}, 3), DType::bf16, 3), IsEmpty());
  EXPECT_THAT(precision_fault(centred, numbers({3, 100, 100}, 3), DType::f16, 3), IsEmpty());
  EXPECT_THAT(precision_fault(plain, numbers({3, 100, 100}, 2), DType::bf16, 3), IsEmpty());
  EXPECT_THAT(precision_fault(plain, numbers({3, 100, 100}, 2), DType::f16, 3), IsEmpty());
}

TEST(Norm, IsTheSameOnAnyNumberOfThreads) {
  EXPECT_THAT(threads_fault(centred, numbers({500, 333}, 3), DType::f32), IsEmpty());
  EXPECT_THAT(threads_fault(plain, numbers({500, 333}, 2), DType::bf16), IsEmpty());
  EXPECT_THAT(threads_fault(plain, numbers({500, 333}, 2), DType::f16), IsEmpty());
}

TEST(Norm, KeepsParametersInF32UnderBf16) {
  const Variable x = Variable::parameter(normal_numbers(1, {4, 6}).to(DType::bf16));
  const Variable weight = Variable::parameter(normal_numbers(2, {6}).to(DType::f32));
  const Variable y = rms_norm(x, weight);
  EXPECT_EQ(y.dtype(), DType::bf16);
  backward(y, Tensor(y.value()));
  EXPECT_EQ(weight.gradient().dtype(), DType::f32);
  EXPECT_EQ(x.gradient().dtype(), DType::bf16);
}

TEST(Norm, NamesWhatDoesNotFit) {
  const auto zeros = [](const Shape& shape, DType dtype = DType::f32) { return Variable(Tensor(dtype, shape)); };
  EXPECT_EQ(error_message([&] { (void)layer_norm(zeros({2, 3}), zeros({4}), zeros({3})); }),
            "layer_norm: weight: expected [3] for x [2, 3], got [4]");
  EXPECT_EQ(error_message([&] { (void)layer_norm(zeros({2, 3}), zeros({3}), zeros({3, 1})); }),
            "layer_norm: bias: expected [3] for x [2, 3], got [3, 1]");
  EXPECT_EQ(error_message([&] { (void)rms_norm(zeros({}), zeros({3})); }),
            "rms_norm: x: expected one axis or more, got []");
  EXPECT_EQ(error_message([&] { (void)rms_norm(zeros({2, 3}), zeros({3}, DType::f64)); }),
            "rms_norm: weight: expected f32, the dtype of x, got f64");
  EXPECT_EQ(error_message([&] { (void)rms_norm(zeros({2, 3}), zeros({3}), -1); }),
            "rms_norm: epsilon: expected 0 or more, got -1");
}

}  // namespace
}  // namespace qkv::norm_test
