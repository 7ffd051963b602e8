#include "qkv/nn/activation.h"

#include <limits>

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

// PyTorch adds 1 + erf, which loses up to one rounding of 1 where the two cancel: 2^-53 |x|, and as much of qkv's own.
void expect_activation(Activation activation, const std::string& column) {
  const Json fixture = read_fixture("torch_layers.json").at("gelu");
  const Tensor x = tensor_of(fixture.at("x"));
  const Tensor want = tensor_of(fixture.at(column));
  const Tensor got = activate(activation, x);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(got.at({i}), want.at({i}), 0x1p-52 * std::fabs(x.at({i}))) << column << " of " << x.at({i});
  }
}

TEST(Activation, AgreesWithPyTorch) {
  expect_activation(Activation::gelu, "exact");
  expect_activation(Activation::gelu_tanh, "tanh");
  expect_activation(Activation::relu, "relu");
}

TEST(Activation, ExactGeluKeepsItsTail) {
  // -10 * Phi(-10) = -7.6198530241605e-23; 1 + erf would give 0.
  EXPECT_NEAR(activate(Activation::gelu, -10.0), -7.6198530241605e-23, 1e-36);
}

TEST(Activation, KeepsShapeDtypeAndNaN) {
  const Tensor x(std::vector<float>{-1, std::numeric_limits<float>::quiet_NaN()}, {1, 2});
  for (const auto activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    const Tensor out = activate(activation, x);
    EXPECT_EQ(out.dtype(), DType::f32);
    EXPECT_EQ(out.shape(), x.shape());
    EXPECT_TRUE(std::isnan(out.at({0, 1}))) << name_of(activation);
  }
}

TEST(Activation, NamesAnInputThatIsNotFloating) {
  EXPECT_EQ(message_of([] { (void)activate(Activation::relu, Tensor(DType::i32, {1})); }),
            "activate: x: expected f64, f32, f16 or bf16, got i32");
}

}  // namespace
}  // namespace qkv::nn
