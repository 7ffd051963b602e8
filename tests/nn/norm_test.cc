#include "qkv/nn/norm.h"

#include <gmock/gmock.h>

#include <limits>

#include "nn/fixture.h"
#include "oracle/of_layers.h"
#include "qkv/autograd/shape.h"

namespace qkv::nn::norm_test {
namespace {

Norm layer_norm_of(double epsilon, Tensor weight, Tensor bias) {
  return {epsilon, Variable::parameter(std::move(weight)), Variable::parameter(std::move(bias))};
}

Norm fresh(NormKind kind, std::int64_t width, double epsilon, DType dtype = DType::f64) {
  Generator generator(1);
  return {{.kind = kind, .width = width, .epsilon = epsilon, .dtype = dtype}, generator};
}

TEST(LayerNorm, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("layer_norm");
  const Variable x(tensor_of(fixture.at("x")));
  const Norm affine = layer_norm_of(1e-5, tensor_of(fixture.at("weight")), tensor_of(fixture.at("bias")));
  expect_close(affine.forward(x), tensor_of(fixture.at("out")));
  expect_close(fresh(NormKind::layer, 6, 1e-3).forward(x), tensor_of(fixture.at("plain")));
  // Two axes are one of as many elements.
  const auto flat = [&](const char* name) { return Tensor(tensor_of(fixture.at(name)).to_vector(), {18}); };
  const Variable out = layer_norm_of(1e-5, flat("weight2"), flat("bias2")).forward(reshape(x, {2, 18}));
  expect_close(reshape(out, {2, 3, 6}), tensor_of(fixture.at("two_axes")));
}

TEST(LayerNorm, PutsEpsilonUnderTheRoot) {
  // A row of deviations +-s has var = s^2, so the layer gives s / sqrt(s^2 + eps). The NumPy block of the chapter on
  // self-attention divides by (std + eps): the two differ most where s is of the size of eps.
  const double s = 1e-4;
  const double epsilon = 1e-5;
  const Variable x(Tensor(std::vector<double>{1 - s, 1 + s}, {1, 2}));
  const double got = fresh(NormKind::layer, 2, epsilon).forward(x).value().at({0, 1});
  EXPECT_NEAR(got, s / std::sqrt(s * s + epsilon), 1e-12);
  EXPECT_GT(s / (s + epsilon) - got, 0.8);
}

TEST(LayerNorm, SurvivesALargeMean) {
  const double far = 1e8;
  const Variable x(Tensor(std::vector<double>{far - 1, far, far + 1}, {3}));
  const Variable out = fresh(NormKind::layer, 3, 0).forward(x);
  EXPECT_NEAR(out.value().at({2}), std::sqrt(1.5), 1e-15);
  EXPECT_EQ(out.value().at({1}), 0.0);
}

TEST(LayerNorm, AConstantRowGivesTheBias) {
  const Norm layer =
      layer_norm_of(1e-5, Tensor(std::vector<float>{1, 1, 1}, {3}), Tensor(std::vector<float>{1, 2, 3}, {3}));
  EXPECT_EQ(layer.forward(Variable(Tensor(std::vector<float>{7, 7, 7}, {3}))).value().to_vector(),
            (std::vector<double>{1, 2, 3}));
}

TEST(RMSNorm, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("rms_norm");
  const Variable x(tensor_of(fixture.at("x")));
  const Norm layer(1e-6, Variable::parameter(tensor_of(fixture.at("weight"))));
  expect_close(layer.forward(x), tensor_of(fixture.at("out")));
  expect_close(fresh(NormKind::rms, 6, 1e-3).forward(x), tensor_of(fixture.at("plain")));
}

TEST(Norm, IsThatOfTheOracle) {
  const Tensor x = normal({2, 5, 7}, 1);
  for (const NormKind kind : {NormKind::layer, NormKind::rms, NormKind::rms_plus_one}) {
    const Norm layer = fresh(kind, 7, 1e-3);
    shake(layer.parameters());
    expect_close(layer.forward(Variable(x)), oracle::norm_of(1e-3, layer.parameters(), "", kind).forward(x), 1e-12);
  }
}

TEST(Norm, AddsOneToAWeightOf16BitsInF32) {
  const Norm layer = fresh(NormKind::rms_plus_one, 1, 0, DType::bf16);
  EXPECT_EQ(layer.parameters().front().value.value().at({0}), 0);
  assign(layer.parameters(), "weight", Tensor(std::vector<float>{0x1p-12F}, {1}));
  const Variable out = layer.forward(Variable(Tensor(std::vector<float>{3}, {1, 1})));
  EXPECT_EQ(out.value().at({0, 0}), 1 + 0x1p-12);
}

TEST(Norm, HasABiasIfItIsALayerNorm) {
  EXPECT_EQ(fresh(NormKind::layer, 3, 0).parameters().size(), 2U);
  EXPECT_EQ(fresh(NormKind::rms, 3, 0).parameters().size(), 1U);
  EXPECT_EQ(fresh(NormKind::rms, 3, 0).kind(), NormKind::rms);
  EXPECT_EQ(fresh(NormKind::layer, 3, 0.5).epsilon(), 0.5);
  EXPECT_EQ(fresh(NormKind::layer, 3, 0).width(), 3);
}

TEST(Norm, NamesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)fresh(NormKind::layer, 0, 0); }), "Norm: width: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)fresh(NormKind::layer, 4, -1); }), "Norm: epsilon: expected 0 or more, got -1");
  EXPECT_THAT(message_of([] { (void)fresh(NormKind::rms, 4, std::numeric_limits<double>::quiet_NaN()); }),
              testing::HasSubstr("Norm: epsilon: expected 0 or more, got "));
  EXPECT_EQ(message_of([] { (void)layer_norm_of(0, Tensor(DType::f32, {4}), Tensor(DType::f32, {1, 4})); }),
            "Norm: bias: expected [4], got [1, 4]");
  EXPECT_EQ(message_of([] { (void)layer_norm_of(0, Tensor(DType::f32, {2, 3}), Tensor(DType::f32, {2, 3})); }),
            "Norm: weight: expected one axis of 1 or more, got [2, 3]");
  EXPECT_EQ(message_of([] { (void)fresh(NormKind::rms, 4, 0).forward(Variable(normal({3}, 1))); }),
            "rms_norm: weight: expected [3] for x [3], got [4]");
  EXPECT_EQ(message_of([] { (void)fresh(NormKind::layer, 4, 0).forward(Variable(normal({2, 3}, 1))); }),
            "layer_norm: weight: expected [3] for x [2, 3], got [4]");
}

}  // namespace
}  // namespace qkv::nn::norm_test
