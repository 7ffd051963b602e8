#include "qkv/nn/activation.h"

#include <array>
#include <limits>

#include "nn/fixture.h"
#include "oracle/activation.h"
#include "qkv/autograd/reduce.h"

namespace qkv::nn::activation_test {
namespace {

constexpr std::array kAll = {Activation::gelu,  Activation::gelu_tanh, Activation::quick_gelu, Activation::relu,
                             Activation::silu,  Activation::tanh,      Activation::sigmoid,    Activation::leaky_relu,
                             Activation::relu2, Activation::linear};

Tensor activated(Activation activation, const Tensor& x) { return Tensor(activate(activation, Variable(x)).value()); }

// PyTorch adds 1 + erf, which loses up to one rounding of 1 where the two cancel: 2^-53 |x|, and as much of qkv's own.
void expect_activation(Activation activation, const std::string& column) {
  const Json fixture = read_fixture("torch_layers.json").at("gelu");
  const Tensor x = tensor_of(fixture.at("x"));
  const Tensor want = tensor_of(fixture.at(column));
  const Tensor got = activated(activation, x);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(got.at({i}), want.at({i}), 0x1p-52 * std::fabs(x.at({i}))) << column << " of " << x.at({i});
  }
}

TEST(Activation, AgreesWithPyTorch) {
  expect_activation(Activation::gelu, "exact");
  expect_activation(Activation::gelu_tanh, "tanh");
  expect_activation(Activation::relu, "relu");
}

TEST(Activation, IsTheFormulaThatItIsNamedAfter) {
  const Tensor x = normal({200}, 1);
  for (const Activation activation : kAll) {
    // Five operations of numbers below 4, on either side: 10 * 4 * 2^-53.
    expect_close(activated(activation, x), oracle::activate(activation, x), 40 * 0x1p-53);
  }
  EXPECT_NEAR(activated(Activation::silu, Tensor(std::vector<double>{2}, {1})).at({0}), 2 / (1 + std::exp(-2.0)),
              0x1p-50);
  EXPECT_NEAR(activated(Activation::quick_gelu, Tensor(std::vector<double>{2}, {1})).at({0}),
              2 / (1 + std::exp(-3.404)), 0x1p-50);
}

TEST(Activation, HasTheGradientOfItsFormula) {
  const Tensor x = normal({40}, 2);
  for (const Activation activation : kAll) {
    const Variable input = Variable::parameter(x);
    backward(sum(activate(activation, input)));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      // A central difference: its error is of the order of step^2, and of 2^-53 / step by rounding.
      constexpr double kStep = 1e-5;
      const auto value = [&](double at) { return oracle::activate(activation, at); };
      const double slope = (value(x.at({i}) + kStep) - value(x.at({i}) - kStep)) / (2 * kStep);
      EXPECT_NEAR(input.gradient().at({i}), slope, 1e-8) << name_of(activation) << " at " << x.at({i});
    }
  }
}

TEST(Activation, ExactGeluKeepsItsTail) {
  // -10 * Phi(-10) = -7.6198530241605e-23; 1 + erf would give 0.
  EXPECT_NEAR(activated(Activation::gelu, Tensor(std::vector<double>{-10}, {1})).at({0}), -7.6198530241605e-23, 1e-36);
}

TEST(Activation, KeepsShapeDtypeAndNaN) {
  const Tensor x(std::vector<float>{-1, std::numeric_limits<float>::quiet_NaN()}, {1, 2});
  for (const Activation activation : kAll) {
    const Tensor out = activated(activation, x);
    EXPECT_EQ(out.dtype(), DType::f32);
    EXPECT_EQ(out.shape(), x.shape());
    EXPECT_TRUE(std::isnan(out.at({0, 1}))) << name_of(activation);
  }
}

TEST(Activation, IsFoundByItsName) {
  for (const Activation activation : kAll) EXPECT_EQ(activation_named(name_of(activation)), activation);
  EXPECT_EQ(message_of([] { (void)activation_named("swish"); }),
            "activation_named: name: expected one of gelu, gelu_tanh, quick_gelu, relu, silu, tanh, sigmoid, "
            "leaky_relu, relu2, linear, got \"swish\"");
}

}  // namespace
}  // namespace qkv::nn::activation_test
