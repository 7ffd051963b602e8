#include "qkv/nn/parameters.h"

#include <gmock/gmock.h>

#include "nn/fixture.h"
#include "qkv/autograd/reduce.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/stack.h"

namespace qkv::nn::parameters_test {
namespace {

using testing::ElementsAre;

TEST(Parameters, AreAssignedByName) {
  Generator generator(1);
  const Linear layer({.in = 2, .out = 1}, generator);
  assign(layer.parameters(), "weight", Tensor(std::vector<double>{3, 4}, {1, 2}));
  EXPECT_THAT(layer.weight().value().to_vector(), ElementsAre(3, 4));
  EXPECT_EQ(layer.weight().dtype(), DType::f32);
  EXPECT_EQ(message_of([&] { assign(layer.parameters(), "wait", Tensor(DType::f32, {1})); }),
            "assign: name: expected the name of a parameter, got \"wait\"");
  EXPECT_EQ(message_of([&] { assign(layer.parameters(), "bias", Tensor(DType::f32, {2})); }),
            "assign: bias: expected [1], got [2]");
}

TEST(Parameters, MayBeReplacedByOnesOfAnotherDtype) {
  Generator generator(1);
  const Linear layer({.in = 2, .out = 1, .bias = false}, generator);
  const Variable& weight = layer.weight();
  backward(sum(layer.forward(Variable(Tensor(std::vector<float>{1, 2}, {1, 2})))));
  EXPECT_TRUE(weight.has_gradient());
  const Tensor doubles(std::vector<double>{3, 4}, {1, 2});
  weight.replace_value(doubles);
  EXPECT_EQ(weight.dtype(), DType::f64);
  EXPECT_EQ(weight.value().data(), doubles.data());
  EXPECT_FALSE(weight.has_gradient());
  EXPECT_EQ(layer.forward(Variable(Tensor(std::vector<double>{1, 2}, {1, 2}))).item(), 11);
  EXPECT_EQ(message_of([&] { weight.replace_value(Tensor(DType::f32, {2, 1})); }),
            "Variable::replace_value: value: expected [1, 2], got [2, 1]");
}

TEST(Init, UndrawnIsAZeroSeenAtItsWholeShape) {
  const Linear huge({.in = 1LL << 30, .out = 1LL << 30}, Init::undrawn());
  EXPECT_EQ(huge.weight().shape(), (Shape{1LL << 30, 1LL << 30}));
  const Linear layer({.in = 2, .out = 3, .dtype = DType::f64}, Init::undrawn());
  EXPECT_THAT(layer.weight().value().to_vector(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_TRUE(layer.weight().requires_gradient());
  assign(layer.parameters(), "weight", Tensor(std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2}));
  assign(layer.parameters(), "bias", Tensor(std::vector<double>{10, 20, 30}, {3}));
  EXPECT_THAT(layer.forward(Variable(Tensor(std::vector<double>{1, 1}, {2}))).value().to_vector(),
              ElementsAre(13, 27, 41));
}

TEST(Init, AssignedValuesMakeAnUndrawnStackTheDrawnOne) {
  const StackOptions options{.layers = 2,
                             .block = {.attention = {.d_model = 8, .heads = 2, .qk_norm = 1e-6}, .d_context = 6}};
  Generator generator(1);
  const TransformerStack drawn(options, generator);
  const TransformerStack undrawn(options, Init::undrawn());
  const Parameters from = drawn.parameters();
  const Parameters to = undrawn.parameters();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t n = 0; n < from.size(); ++n) {
    EXPECT_EQ(from[n].name, to[n].name);
    assign(to, from[n].name, from[n].value.value());
  }
  const Variable x(normal({2, 3, 8}, 1, DType::f32));
  const Variable context(normal({2, 4, 6}, 2, DType::f32));
  EXPECT_EQ(undrawn.forward_cross(x, context).value().to_vector(), drawn.forward_cross(x, context).value().to_vector());
}

TEST(Dropout, SeedsOfPlacesDiffer) {
  const Dropout dropout{.p = 0.1, .seed = 7};
  EXPECT_NE(dropout_at(dropout, 0).seed, dropout_at(dropout, 1).seed);
  EXPECT_NE(dropout_at(dropout_at(dropout, 0), 1).seed, dropout_at(dropout_at(dropout, 1), 0).seed);
  EXPECT_EQ(dropout_at(dropout, 3).p, 0.1);
}

}  // namespace
}  // namespace qkv::nn::parameters_test
