// Variables that read a tensor's elements in place, and when they move to memory of their own.
#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/shape.h"

namespace qkv::shared_value_test {
namespace {

using testing::ElementsAre;

// Stands for a mapped file: read only, and kept alive by whoever reads it.
struct Foreign {
  std::shared_ptr<std::vector<float>> numbers = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});

  [[nodiscard]] Tensor tensor() const { return Tensor::borrow(TensorView(numbers->data(), {2, 2}), numbers); }
};

TEST(SharedValue, ConstantsAndParametersReadInPlace) {
  const Foreign foreign;
  const Variable constant(foreign.tensor());
  const Variable parameter = Variable::parameter(foreign.tensor());
  EXPECT_EQ(constant.value().data(), foreign.numbers->data());
  EXPECT_EQ(parameter.value().data(), foreign.numbers->data());
  backward(sum(parameter * constant));
  EXPECT_THAT(parameter.gradient().to_vector(), ElementsAre(1, 2, 3, 4));
}

TEST(SharedValue, KeepsTheOwnerAlive) {
  std::weak_ptr<std::vector<float>> watched;
  Variable y;
  {
    const Foreign foreign;
    watched = foreign.numbers;
    y = transpose(Variable(foreign.tensor()), 0, 1);
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_THAT(y.value().to_vector(), ElementsAre(1, 3, 2, 4));
  y = {};
  EXPECT_TRUE(watched.expired());
}

TEST(SharedValue, WritingMovesAParameterToMemoryOfItsOwn) {
  const Foreign foreign;
  const Variable x = Variable::parameter(foreign.tensor());
  const TensorView before = x.value();
  const Variable alias = x.detach();
  x.mutable_value().set({0, 0}, 9);
  EXPECT_THAT(x.value().to_vector(), ElementsAre(9, 2, 3, 4));
  EXPECT_THAT(*foreign.numbers, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(before.to_vector(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(alias.value().to_vector(), ElementsAre(1, 2, 3, 4));
  const void* own = x.value().data();
  x.mutable_value().set({0, 1}, 8);  // from then on in place
  EXPECT_EQ(x.value().data(), own);
  EXPECT_THAT(x.value().to_vector(), ElementsAre(9, 8, 3, 4));
}

TEST(SharedValue, ViewsStayValidWhenTheTensorIsGone) {
  Tensor tensor(std::vector<float>{1, 2}, {2});
  const Variable x = Variable::parameter(tensor);
  const TensorView before = x.value();
  x.mutable_value().set({0}, 5);
  tensor = {};
  EXPECT_THAT(before.to_vector(), ElementsAre(1, 2));
  EXPECT_THAT(x.value().to_vector(), ElementsAre(5, 2));
}

TEST(SharedValue, ATensorAndAVariableDoNotSeeEachOthersWrites) {
  Tensor tensor(std::vector<float>{1, 2}, {2});
  const Variable x = Variable::parameter(tensor);
  EXPECT_EQ(x.value().data(), static_cast<const Tensor&>(tensor).data());
  tensor.set({0}, 7);
  EXPECT_THAT(x.value().to_vector(), ElementsAre(1, 2));
  x.mutable_value().set({1}, 8);
  EXPECT_THAT(tensor.to_vector(), ElementsAre(7, 2));
}

TEST(SharedValue, RefusesToWalkOverASharedValueThatWasWritten) {
  const Foreign foreign;
  const Variable x = Variable::parameter(foreign.tensor());
  for (const double number : {7.0, 8.0}) {  // the first write moves it
    const Variable y = sum(x * x);
    x.mutable_value().set({0, 0}, number);
    EXPECT_EQ(error_message([&] { backward(y); }),
              "backward: a of mul: expected the value that the forward pass used, got one that was changed since");
  }
}

TEST(SharedValue, AHooksTensorIsNotWrittenOver) {
  const Tensor replacement(std::vector<float>{1, 1}, {2});
  const Variable x = Variable::parameter(Tensor(std::vector<float>{1, 2}, {2}));
  const Variable y = 3.0 * x;
  y.on_gradient([&](const Variable&) { return Variable(replacement); });
  backward(sum(y));
  backward(sum(x));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(4, 4));
  EXPECT_THAT(replacement.to_vector(), ElementsAre(1, 1));
}

TEST(SharedValue, ParametersAreDenseAndConstantsMayHaveStrides) {
  const Foreign foreign;
  const Tensor turned = foreign.tensor().transpose(0, 1);
  EXPECT_EQ(Variable(turned).value().strides(), Strides({1, 2}));
  const Variable parameter = Variable::parameter(turned);
  EXPECT_TRUE(parameter.value().is_contiguous());
  EXPECT_THAT(parameter.value().to_vector(), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(exp(Variable(turned)).value().shape(), Shape({2, 2}));
}

}  // namespace
}  // namespace qkv::shared_value_test
