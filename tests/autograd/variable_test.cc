#include "qkv/autograd/variable.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/reduce.h"

namespace qkv::variable_test {
namespace {

using testing::ElementsAre;

Variable parameter(const std::vector<float>& values) {
  return Variable::parameter(Tensor(values, {static_cast<std::int64_t>(values.size())}));
}

TEST(Variable, SumsTheGradientsOfAValueUsedTwice) {
  const Variable x = parameter({1, 2, 3});
  backward(sum(x * x + x));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(3, 5, 7));
}

TEST(Variable, AddsTheGradientsOfTwoCalls) {
  const Variable x = parameter({1, 2});
  EXPECT_FALSE(x.has_gradient());
  backward(sum(x * x));
  backward(sum(x));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(3, 5));
  x.clear_gradient();
  EXPECT_FALSE(x.has_gradient());
  EXPECT_EQ(x.gradient().shape(), Shape{0});
}

TEST(Variable, KeepsItsRecordWhereAsked) {
  const Variable x = parameter({3});
  const Variable y = sum(x * x);
  backward(y, Record::keep);
  backward(y);
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(12));
  EXPECT_EQ(
      error_message([&] { backward(y); }),
      "backward: result: expected a record that backward() has not released, got that of sum; Record::keep in the "
      "earlier call keeps it");
}

TEST(Variable, GradientsOfTwoParametersDoNotShareMemory) {
  const Variable a = parameter({1});
  const Variable b = parameter({2});
  backward(sum(a + b));
  a.mutable_gradient().set({0}, 5);
  EXPECT_THAT(b.gradient().to_vector(), ElementsAre(1));
}

TEST(Variable, IsNotRecordedWhereNobodyWantsIt) {
  const Variable x = parameter({1, 2});
  {
    const NoGradient none;
    EXPECT_FALSE((x * x).requires_gradient());
  }
  EXPECT_TRUE((x * x).requires_gradient());
  EXPECT_FALSE((x * x).is_leaf());
  EXPECT_TRUE(x.is_leaf());
  const Variable constant(Tensor(std::vector<float>{1, 2}, {2}));
  EXPECT_FALSE((constant * constant).requires_gradient());
  EXPECT_FALSE((x * x).detach().requires_gradient());
  backward(sum(x * x.detach()));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(1, 2));
}

TEST(Variable, HooksSeeTheWholeGradientAndMayReplaceIt) {
  const Variable x = parameter({1, 2});
  const Variable y = x * x;
  std::vector<double> seen;
  y.on_gradient([&](const Variable& gradient) {
    seen = gradient.value().to_vector();
    return 10 * gradient;
  });
  y.on_gradient([](const Variable&) { return Variable(); });
  backward(sum(y + y));
  EXPECT_THAT(seen, ElementsAre(2, 2));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(40, 80));
  const Variable z = sum(x);
  z.on_gradient([](const Variable&) { return Variable(Tensor(DType::f32, {3})); });
  EXPECT_EQ(error_message([&] { backward(z); }), "backward: gradient of a hook: expected [] of f32, got [3] of f32");
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(40, 80));
}

TEST(Variable, RefusesToWalkOverAValueThatWasWritten) {
  const Variable x = parameter({1, 2});
  const Variable y = sum(x * x);
  x.mutable_value().set({0}, 7);
  EXPECT_EQ(error_message([&] { backward(y); }),
            "backward: a of mul: expected the value that the forward pass used, got one that was changed since");
  EXPECT_FALSE(x.has_gradient());
  const Variable alias = x.detach();
  const Variable z = sum(x * x);
  alias.mutable_value().set({0}, 8);
  EXPECT_NE(error_message([&] { backward(z); }), "nothing was thrown");
  // A sum keeps no value: it does not mind.
  const Variable w = sum(x);
  x.mutable_value().set({0}, 9);
  EXPECT_NO_THROW(backward(w));
}

TEST(Variable, RefusesWhatHasNoMeaning) {
  const Variable x = parameter({1, 2});
  EXPECT_EQ(error_message([&] { (void)(x * x).mutable_value(); }),
            "Variable::mutable_value: this: expected a parameter or a constant, got the result of mul");
  EXPECT_EQ(error_message([&] { backward(x * x); }), "backward: result: expected one element, or d_result, got [2]");
  EXPECT_EQ(error_message([&] { backward(x * x, Tensor(DType::f32, {3})); }),
            "backward: d_result: expected [2], the shape of result, got [3]");
  EXPECT_EQ(error_message([&] { backward(x * x, Tensor(DType::f64, {2})); }),
            "backward: d_result: expected f32, the dtype of result, got f64");
  EXPECT_EQ(error_message([&] { backward(x.detach()); }),
            "backward: result: expected a variable that requires a gradient, got a constant");
  EXPECT_EQ(error_message([&] { (void)(x * x).gradient(); }),
            "Variable::gradient: this: expected a parameter, got the result of mul");
  EXPECT_EQ(error_message([&] { (void)x.detach().gradient(); }),
            "Variable::gradient: this: expected a parameter, got a constant");
  EXPECT_EQ(error_message([&] { (void)x.mutable_gradient(); }),
            "Variable::mutable_gradient: this: expected a parameter with a gradient, got one without");
  EXPECT_EQ(error_message([&] { x.detach().on_gradient({}); }),
            "Variable::on_gradient: this: expected a variable that requires a gradient, got a constant");
  EXPECT_EQ(error_message([&] { (void)x.item(); }), "Variable::item: this: expected one element, got [2]");
  EXPECT_EQ(error_message([] { (void)Variable().value(); }),
            "Variable::value: this: expected a variable, got an empty variable");
  EXPECT_EQ(error_message([] { (void)Variable(Tensor(DType::i64, {2})); }),
            "Variable: value: expected a tensor of f64, f32, bf16 or f16, got i64");
}

TEST(Variable, LongChainsNeitherWalkNorEndInRecursion) {
  const Variable x = parameter({0});
  Variable y = x;
  for (int n = 0; n < 200000; ++n) y = y + x;
  Variable kept = y;
  for (int n = 0; n < 200000; ++n) kept = kept + x;
  backward(sum(y));
  EXPECT_THAT(x.gradient().to_vector(), ElementsAre(200001));
}

TEST(Variable, MemoryOfIntermediateValuesIsFreedOnTheWay) {
  const Variable x = parameter(std::vector<float>(1 << 16, 0.5F));
  release_value_pool();
  EXPECT_EQ(value_pool_bytes(), 0U);
  Variable y = x;
  for (int n = 0; n < 20; ++n) y = tanh(y);
  y = sum(y);
  const std::size_t before = value_pool_bytes();
  backward(y);
  // All but the result of sum came back to the pool although y still lives.
  EXPECT_GE(value_pool_bytes(), before + 20 * (sizeof(float) << 16));
}

TEST(Variable, MemoryOfSizesThatChangeIsNotHeldForEver) {
  release_value_pool();
  std::size_t most = 0;
  for (std::int64_t size = 1 << 16; size < 1 << 20; size += 1 << 16) {
    const Variable x(Tensor(DType::f32, {size}));
    static_cast<void>(tanh(tanh(x)));
    most = std::max(most, value_pool_bytes());
  }
  EXPECT_LE(most, 6 * sizeof(float) << 20);  // the largest of the sixteen had two values of up to 4 MiB in use
}

}  // namespace
}  // namespace qkv::variable_test
