#include "qkv/nn/norm.h"

#include <limits>

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

TEST(LayerNorm, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("layer_norm");
  const Tensor x = tensor_of(fixture.at("x"));
  const LayerNorm affine(
      {.normalized = {6}, .weight = tensor_of(fixture.at("weight")), .bias = tensor_of(fixture.at("bias"))});
  expect_close(affine.forward(x), tensor_of(fixture.at("out")));
  expect_close(LayerNorm({.normalized = {6}, .epsilon = 1e-3}).forward(x), tensor_of(fixture.at("plain")));
  const LayerNorm two_axes(
      {.normalized = {3, 6}, .weight = tensor_of(fixture.at("weight2")), .bias = tensor_of(fixture.at("bias2"))});
  expect_close(two_axes.forward(x), tensor_of(fixture.at("two_axes")));
}

TEST(LayerNorm, PutsEpsilonUnderTheRoot) {
  // A row of deviations +-s has var = s^2, so the layer gives s / sqrt(s^2 + eps). The NumPy block of the chapter on
  // self-attention divides by (std + eps): the two differ most where s is of the size of eps.
  const double s = 1e-4;
  const double epsilon = 1e-5;
  const Tensor x(std::vector<double>{1 - s, 1 + s}, {1, 2});
  const double got = LayerNorm({.normalized = {2}, .epsilon = epsilon}).forward(x).at({0, 1});
  EXPECT_NEAR(got, s / std::sqrt(s * s + epsilon), 1e-12);
  EXPECT_GT(s / (s + epsilon) - got, 0.8);
}

TEST(LayerNorm, SurvivesALargeMean) {
  const double far = 1e8;
  const Tensor x(std::vector<double>{far - 1, far, far + 1}, {3});
  const Tensor out = LayerNorm({.normalized = {3}, .epsilon = 0}).forward(x);
  EXPECT_NEAR(out.at({2}), std::sqrt(1.5), 1e-15);
  EXPECT_EQ(out.at({1}), 0.0);
}

TEST(LayerNorm, AConstantRowGivesTheBias) {
  const LayerNorm layer({.normalized = {3}, .bias = Tensor(std::vector<float>{1, 2, 3}, {3})});
  EXPECT_EQ(layer.forward(Tensor(std::vector<float>{7, 7, 7}, {3})).to_vector(), (std::vector<double>{1, 2, 3}));
}

TEST(LayerNorm, GivesItsStatistics) {
  const Tensor x(std::vector<float>{1, 3, 10, 14}, {2, 1, 2});
  const NormStatistics one = LayerNorm({.normalized = {2}, .epsilon = 0}).statistics(x);
  EXPECT_EQ(one.mean.shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(one.mean.to_vector(), (std::vector<double>{2, 12}));
  EXPECT_EQ(one.inv_std.to_vector(), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(one.inv_std.dtype(), DType::f32);
  EXPECT_EQ(LayerNorm({.normalized = {1, 2}}).statistics(x.to(DType::f64)).mean.dtype(), DType::f64);
}

TEST(LayerNorm, NamesWhatDoesNotFit) {
  const LayerNorm layer({.normalized = {2, 4}});
  EXPECT_EQ(message_of([&] { (void)layer.forward(Tensor(DType::f32, {2, 3, 4})); }),
            "LayerNorm: x: expected trailing axes [2, 4], got [2, 3, 4]");
  EXPECT_EQ(message_of([&] { (void)layer.statistics(Tensor(DType::f32, {4})); }),
            "LayerNorm: x: expected trailing axes [2, 4], got [4]");
  EXPECT_EQ(message_of([&] { (void)layer.forward(Tensor(DType::i64, {2, 4})); }),
            "LayerNorm: x: expected f64, f32, f16 or bf16, got i64");
  EXPECT_EQ(message_of([] { (void)LayerNorm({.normalized = {}}); }),
            "LayerNorm: normalized: expected one or more axes of 1 or more, got []");
  EXPECT_EQ(message_of([] { (void)LayerNorm({.normalized = {4}, .epsilon = -1}); }),
            "LayerNorm: epsilon: expected 0 or more, got -1");
  EXPECT_EQ(
      message_of([] { (void)LayerNorm({.normalized = {4}, .epsilon = std::numeric_limits<double>::quiet_NaN()}); }),
      "LayerNorm: epsilon: expected 0 or more, got nan");
  EXPECT_EQ(message_of([] { (void)LayerNorm({.normalized = {4}, .weight = Tensor(DType::f32, {3})}); }),
            "LayerNorm: weight: expected [4], got [3]");
  EXPECT_EQ(message_of([] { (void)LayerNorm({.normalized = {4}, .bias = Tensor(DType::f32, {1, 4})}); }),
            "LayerNorm: bias: expected [4], got [1, 4]");
}

TEST(RMSNorm, AgreesWithPyTorch) {
  const Json fixture = read_fixture("torch_layers.json").at("rms_norm");
  const Tensor x = tensor_of(fixture.at("x"));
  const RMSNorm layer({.normalized = {6}, .weight = tensor_of(fixture.at("weight"))});
  expect_close(layer.forward(x), tensor_of(fixture.at("out")));
  expect_close(RMSNorm({.normalized = {6}, .epsilon = 1e-3}).forward(x), tensor_of(fixture.at("plain")));
}

TEST(RMSNorm, NamesWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)RMSNorm({.normalized = {4}}).forward(Tensor(DType::f32, {3})); }),
            "RMSNorm: x: expected trailing axes [4], got [3]");
  EXPECT_EQ(message_of([] { (void)RMSNorm({.normalized = {4}, .weight = Tensor(DType::f32, {3})}); }),
            "RMSNorm: weight: expected [4], got [3]");
}

}  // namespace
}  // namespace qkv::nn
