// Gradients that PyTorch's autograd gave for the same numbers: fixtures/make_torch_gradients.py.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "qkv/backward.h"

namespace qkv::testing_attention::torch_gradients_test {
namespace {

using nlohmann::json;

const json& fixture() {
  static const json parsed = [] {
    std::ifstream file(QKV_SOURCE_DIR "/tests/attention/fixtures/torch_gradients.json");
    return json::parse(file);
  }();
  return parsed;
}

Tensor tensor_of(const json& stored) {
  std::vector<double> values;
  for (const json& value : stored.at("values")) {
    values.push_back(value.is_null() ? -std::numeric_limits<double>::infinity() : value.get<double>());
  }
  const auto extents = stored.at("shape").get<std::vector<std::int64_t>>();
  return {values, Shape(std::span(extents))};
}

AttentionOptions options_of(const json& one, const std::string& target) {
  AttentionOptions options = {.target = target};
  if (one.contains("scale")) options.scale = one.at("scale").get<double>();
  if (one.contains("softcap")) options.softcap = one.at("softcap").get<double>();
  if (one.contains("causal")) options.mask = causal(Align::top_left);
  if (one.contains("bias")) options.bias = dense_bias(tensor_of(one.at("bias")));
  if (one.contains("sinks")) options.sinks = tensor_of(one.at("sinks")).to_vector();
  return options;
}

// Everything is below 2 and sums of at most 12 products of three: an element is off by 32 roundings of their size.
double tolerance(DType dtype) { return 32 * (dtype == DType::f64 ? 0x1p-53 : 0x1p-24) * 12 * 8; }

void expect_torch(const json& one, DType dtype, const std::string& target) {
  const auto given = [&](const char* name) { return tensor_of(one.at(name)).to(dtype); };
  const AttentionOptions options = options_of(one, target);
  const Tensor q = given("q");
  const Tensor k = given("k");
  const Tensor v = given("v");
  const AttentionResult result = attention(q, k, v, options);
  BackwardOptions backward;
  Tensor d_lse;
  if (one.contains("d_lse")) backward.d_lse = d_lse = given("d_lse");
  const AttentionGradients gradients =
      attention_backward(given("d_out"), q, k, v, result.out, result.lse, options, backward);
  const auto expect = [&](const char* name, const Tensor& got) {
    const Tensor expected = tensor_of(one.at(name));
    EXPECT_EQ(got.shape(), expected.shape()) << name;
    EXPECT_LE(largest_difference(got, expected), tolerance(dtype)) << name;
  };
  expect("d_q", gradients.d_q);
  expect("d_k", gradients.d_k);
  expect("d_v", gradients.d_v);
  if (one.contains("bias")) expect("d_bias", gradients.d_bias.at(0));
  if (one.contains("sinks")) expect("d_sinks", gradients.d_sinks);
}

TEST(TorchGradients, AreThoseOfTheReference) {
  for (const json& one : fixture().at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    expect_torch(one, DType::f64, "reference");
  }
}

TEST(TorchGradients, AreThoseOfEveryTarget) {
  for (const std::string& target : fused_targets()) {
    for (const json& one : fixture().at("cases")) {
      SCOPED_TRACE(target + ", " + one.at("name").get<std::string>());
      expect_torch(one, DType::f32, target);
    }
  }
}

}  // namespace
}  // namespace qkv::testing_attention::torch_gradients_test
