#include "qkv/autograd/shape.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/heads.h"

namespace qkv::shape_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Variables = std::vector<Variable>;

TEST(Shape, OperationsHaveTheGradientOfCentralDifferences) {
  const Tensor x = normal_numbers(1, {2, 3, 4});
  const std::vector<Operation> operations = {
      [](const Variables& v) { return reshape(v[0], {6, 4}); },
      [](const Variables& v) { return permute(v[0], {2, 0, -2}); },
      [](const Variables& v) { return reshape(transpose(v[0], 0, -1), {12, 2}); },
      [](const Variables& v) { return slice(v[0], 1, 1, 3); },
      [](const Variables& v) { return slice(v[0], -1, 0, 2) * slice(v[0], -1, 1, 3) * slice(v[0], 2, 2, 4); },
      [](const Variables& v) { return concat({v[0], slice(v[0], 1, 0, 1), v[0]}, 1); },
      [](const Variables& v) { return split_heads(v[0], 2); },
      [](const Variables& v) { return merge_heads(split_heads(v[0], 2)); },
      [](const Variables& v) { return merge_heads(exp(split_heads(v[0], 4))); },
  };
  for (const Operation& operation : operations) EXPECT_THAT(gradient_fault(operation, {x}), IsEmpty());
}

TEST(Shape, ReshapeAndPermuteShareElements) {
  const Variable x(normal_numbers(1, {2, 3, 4}));
  EXPECT_EQ(reshape(x, {24}).value().data(), x.value().data());
  EXPECT_EQ(permute(x, {1, 2, 0}).value().data(), x.value().data());
  EXPECT_EQ(merge_heads(split_heads(x, 2)).value().data(), x.value().data());
  EXPECT_NE(reshape(transpose(x, 0, 1), {24}).value().data(), x.value().data());
}

TEST(Shape, HeadsAreThoseOfTheEngine) {
  const Variable x(normal_numbers(1, {2, 3, 4}));
  const Variable heads = split_heads(x, 2);
  EXPECT_EQ(heads.value().to_vector(), qkv::split_heads(x.value(), 2).to_vector());
  const Variable dense(Tensor(heads.value()));
  EXPECT_EQ(merge_heads(dense).value().to_vector(), x.value().to_vector());
}

TEST(Shape, ConcatPutsPartsInOrder) {
  const Variable a(Tensor(std::vector<float>{1, 2}, {2, 1}));
  const Variable b(Tensor(std::vector<float>{3, 4, 5, 6}, {2, 2}));
  EXPECT_THAT(concat({a, b}, 1).value().to_vector(), ElementsAre(1, 3, 4, 2, 5, 6));
  EXPECT_THAT(concat({a, a}, 0).value().to_vector(), ElementsAre(1, 2, 1, 2));
}

TEST(Shape, NamesWhatDoesNotFit) {
  const Variable x(Tensor(DType::f32, {2, 3, 4}));
  EXPECT_EQ(error_message([&] { (void)reshape(x, {5, 5}); }),
            "reshape: shape: expected 24 elements as in [2, 3, 4], got [5, 5]");
  EXPECT_EQ(error_message([&] { (void)permute(x, {0, 1}); }),
            "permute: axes: expected each axis of [2, 3, 4] once, got [0, 1]");
  EXPECT_EQ(error_message([&] { (void)permute(x, {0, 1, -2}); }),
            "permute: axes: expected each axis of [2, 3, 4] once, got [0, 1, -2]");
  EXPECT_EQ(error_message([&] { (void)transpose(x, 0, 3); }), "transpose: axis: expected an axis of [2, 3, 4], got 3");
  EXPECT_EQ(error_message([&] { (void)slice(x, 1, 2, 4); }),
            "slice: range: expected 0 <= begin <= end <= 3, got 2 to 4");
  EXPECT_EQ(error_message([] { (void)concat({}, 0); }), "concat: parts: expected one or more, got none");
  EXPECT_EQ(error_message([&] { (void)concat({x, Variable(Tensor(DType::f32, {2, 2, 3}))}, 1); }),
            "concat: parts: expected shapes that differ from [2, 3, 4] in axis 1 alone, got [2, 2, 3]");
  EXPECT_EQ(error_message([&] { (void)split_heads(x, 3); }), "split_heads: heads: expected a divisor of 4, got 3");
  EXPECT_EQ(error_message([&] { (void)merge_heads(x); }), "merge_heads: x: expected [B, H, T, D], got [2, 3, 4]");
}

}  // namespace
}  // namespace qkv::shape_test
