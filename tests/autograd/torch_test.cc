// Results and gradients of PyTorch on the same numbers (fixtures/make_torch_autograd.py made them).
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/softmax.h"

namespace qkv::torch_test {
namespace {

using nlohmann::json;

Tensor tensor_of(const json& text) {
  Shape shape;
  for (const std::int64_t extent : text.at("shape")) shape.push_back(extent);
  return {text.at("values").get<std::vector<double>>(), shape};
}

Tensor ids_of(const json& fixture, const Shape& shape) {
  return {fixture.at("ids").get<std::vector<std::int64_t>>(), shape};
}

Variable run(const json& fixture, const std::vector<Variable>& x) {
  const std::string name = fixture.at("name");
  if (name == "cross_entropy") {
    return cross_entropy(x[0], ids_of(fixture, {6}),
                         {.ignored = fixture.at("ignored"), .label_smoothing = fixture.at("smoothing")});
  }
  if (name == "layer_norm") return layer_norm(x[0], x[1], x[2]);
  if (name == "rms_norm") return rms_norm(x[0], x[1]);
  if (name == "gelu") return gelu(x[0]);
  if (name == "gelu_tanh") return gelu_tanh(x[0]);
  if (name == "silu") return silu(x[0]);
  if (name == "softmax") return softmax(x[0]);
  if (name == "log_softmax") return log_softmax(x[0], 0);
  if (name == "embedding") return embedding(x[0], ids_of(fixture, {2, 3}));
  if (name == "linear") return linear(x[0], x[1], x[2]);
  throw Error("no operation " + name);
}

// Both compute in f64: some tens of roundings.
void expect_near(const TensorView& got, const json& expected, const std::string& what) {
  const Tensor wanted = tensor_of(expected);
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = wanted.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14 * (1 + std::fabs(b[i]))) << what;
}

TEST(Torch, AgreesOnResultsAndGradients) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/autograd/fixtures/torch_autograd.json");
  const json fixtures = json::parse(file);
  ASSERT_EQ(fixtures.at("cases").size(), 13U);
  for (const json& fixture : fixtures.at("cases")) {
    const std::string name = fixture.at("name");
    std::vector<Variable> inputs;
    for (const json& input : fixture.at("inputs")) inputs.push_back(Variable::parameter(tensor_of(input)));
    const Variable out = run(fixture, inputs);
    expect_near(out.value(), fixture.at("out"), name);
    backward(out, tensor_of(fixture.at("d_out")));
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      expect_near(inputs[n].gradient(), fixture.at("gradients")[n], name + ", gradient " + std::to_string(n));
    }
  }
}

}  // namespace
}  // namespace qkv::torch_test
