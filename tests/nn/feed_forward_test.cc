#include "qkv/nn/feed_forward.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "nn/fixture.h"
#include "oracle/of_layers.h"

namespace qkv::nn::feed_forward_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

FeedForward made(const FeedForwardOptions& options) {
  Generator generator(1);
  return {options, generator};
}

std::vector<std::string> names_of(const FeedForward& layer) {
  std::vector<std::string> names;
  for (const Parameter& parameter : layer.parameters()) names.push_back(parameter.name);
  return names;
}

class FeedForwards : public testing::TestWithParam<std::tuple<Activation, FeedForwardKind>> {
 public:
  static FeedForwardOptions options() {
    const auto [activation, kind] = GetParam();
    return {.d_model = 8, .d_ff = 12, .activation = activation, .kind = kind, .dtype = DType::f64};
  }
};

TEST_P(FeedForwards, AreThoseOfTheOracle) {
  const FeedForward layer = made(options());
  const Tensor x = normal({2, 5, 8}, 1);
  expect_close(layer.forward(Variable(x)), oracle::feed_forward_of(options().activation, layer.parameters()).forward(x),
               1e-12);
}

TEST_P(FeedForwards, HaveTheGradientOfCentralDifferences) {
  const FeedForward layer = made(options());
  const Operation operation = [&](const std::vector<Variable>& x) { return layer.forward(x[0]); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 3, 8})}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, FeedForwards,
                         testing::Combine(testing::Values(Activation::gelu, Activation::gelu_tanh,
                                                          Activation::quick_gelu, Activation::relu, Activation::silu),
                                          testing::Values(FeedForwardKind::plain, FeedForwardKind::gated)));

TEST(FeedForward, AGateMultipliesWhatGoesUp) {
  const FeedForward layer({.d_model = 1,
                           .d_ff = 1,
                           .activation = Activation::silu,
                           .kind = FeedForwardKind::gated,
                           .bias = false,
                           .dtype = DType::f64},
                          Init::undrawn());
  const auto give = [&](const char* name, double value) {
    assign(layer.parameters(), name, Tensor(std::vector<double>{value}, {1, 1}));
  };
  give("gate.weight", 2);
  give("up.weight", 3);
  give("down.weight", 5);
  const Variable out = layer.forward(Variable(Tensor(std::vector<double>{0.5}, {1, 1})));
  // 5 * silu(2 * 0.5) * (3 * 0.5), silu(1) = 1 / (1 + e^-1); a handful of roundings of numbers below 8.
  EXPECT_NEAR(out.item(), 7.5 / (1 + std::exp(-1.0)), 8 * 0x1p-50);
}

TEST(FeedForward, NamesItsParametersInTheOrderOfTheDraws) {
  EXPECT_THAT(names_of(made({.d_model = 4, .bias = false})), ElementsAre("up.weight", "down.weight"));
  EXPECT_THAT(names_of(made({.d_model = 4, .kind = FeedForwardKind::gated})),
              ElementsAre("gate.weight", "gate.bias", "up.weight", "up.bias", "down.weight", "down.bias"));
  EXPECT_EQ(made({.d_model = 4, .bias = false}).parameters()[0].value.shape(), (Shape{16, 4}));
  Generator a(1);
  const Linear first({.in = 4, .out = 16}, a);
  EXPECT_EQ(value_of(made({.d_model = 4}).parameters(), "up.weight").to_vector(), first.weight().value().to_vector());
}

TEST(FeedForward, NamesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)made({.d_model = 4, .d_ff = 0}); }), "FeedForward: d_ff: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)made({.d_model = 0}); }), "FeedForward: d_model: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::nn::feed_forward_test
