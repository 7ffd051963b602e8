// ONNX FlexAttention (ai.onnx.preview 1): attention with a function of the scores and one of the weights, each a graph.
// Those of ONNX's cases are known by their operators; any other graph is an error.
#include <map>
#include <string>
#include <vector>

#include "conformance/onnx_operator.h"
#include "qkv/attention.h"

namespace qkv::conformance {
namespace {

enum FlexInput : std::uint8_t { kFlexQ, kFlexK, kFlexV };

// i - j for query i and key j.
Tensor relative_positions(const OnnxCase& onnx) {
  const std::int64_t Tq = onnx.inputs.at(kFlexQ).dim(2);
  const std::int64_t Tk = onnx.inputs.at(kFlexK).dim(2);
  std::vector<double> values;
  for (std::int64_t i = 0; i < Tq; ++i) {
    for (std::int64_t j = 0; j < Tk; ++j) values.push_back(static_cast<double>(i - j));
  }
  return Tensor(values, {Tq, Tk});
}

using ScoreFunction = void (*)(const OnnxCase&, const Subgraph&, AttentionOptions&);

const std::map<std::string, ScoreFunction>& score_functions() {
  static const std::string kPositions = "Shape Gather Gather Range Reshape Range Reshape ";
  static const std::map<std::string, ScoreFunction> kFunctions = {
      {"Add", [](const OnnxCase&, const Subgraph& graph,
                 AttentionOptions& options) { options.bias = dense_bias(Tensor(graph.constants, {1})); }},
      {"Div Tanh Mul", [](const OnnxCase&, const Subgraph& graph,
                          AttentionOptions& options) { options.softcap = graph.constants.at(0); }},
      {kPositions + "GreaterOrEqual Where",
       [](const OnnxCase&, const Subgraph&, AttentionOptions& options) { options.mask = causal(Align::top_left); }},
      {kPositions + "Sub Cast Add",
       [](const OnnxCase& onnx, const Subgraph&, AttentionOptions& options) {
         options.bias = dense_bias(relative_positions(onnx));
       }},
  };
  return kFunctions;
}

AttentionOptions options_of(const OnnxCase& onnx) {
  AttentionOptions options = {.target = onnx.target};
  if (onnx.has("scale")) options.scale = onnx.number("scale", 0);
  if (!onnx.has("score_mod")) return options;
  const Subgraph graph = onnx.graph("score_mod");
  const auto found = score_functions().find(graph.operators);
  if (found == score_functions().end()) throw Error("a score_mod that no case of ours has: " + graph.operators);
  found->second(onnx, graph, options);
  return options;
}

// Weights times c, times v, are weights times c v.
Tensor scaled_values(const OnnxCase& onnx) {
  const Tensor& v = onnx.inputs.at(kFlexV);
  if (!onnx.has("prob_mod")) return v;
  const Subgraph graph = onnx.graph("prob_mod");
  if (graph.operators != "Mul") throw Error("a prob_mod that no case of ours has: " + graph.operators);
  std::vector<double> values = v.to_vector();
  for (double& value : values) value *= graph.constants.at(0);
  return Tensor(values, v.shape()).to(v.dtype());
}

}  // namespace

std::vector<Tensor> run_flex_attention(const OnnxCase& onnx) {
  return {attention(onnx.inputs.at(kFlexQ), onnx.inputs.at(kFlexK), scaled_values(onnx), options_of(onnx)).out};
}

}  // namespace qkv::conformance
