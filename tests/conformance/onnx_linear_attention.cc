// ONNX LinearAttention (opset 27): qkv's recurrent_attention on packed heads. chunk_size is a hint without effect on
// the result, and is not read.
#include <map>
#include <string>
#include <vector>

#include "conformance/onnx_operator.h"
#include "qkv/heads.h"
#include "qkv/linear_attention.h"

namespace qkv::conformance {
namespace {

enum LinearInput : std::uint8_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

UpdateRule rule_of(const OnnxCase& onnx) {
  static const std::map<std::string, UpdateRule> kRules = {{"linear", UpdateRule::linear},
                                                           {"gated", UpdateRule::gated},
                                                           {"delta", UpdateRule::delta},
                                                           {"gated_delta", UpdateRule::gated_delta}};
  return kRules.at(onnx.text("update_rule", "gated_delta"));
}

}  // namespace

std::vector<Tensor> run_linear_attention(const OnnxCase& onnx) {
  const std::int64_t kv_heads = onnx.integer("kv_num_heads", 0);
  const TensorView q = split_heads(onnx.inputs.at(kQuery), onnx.integer("q_num_heads", 0));
  const TensorView k = split_heads(onnx.inputs.at(kKey), kv_heads);
  const TensorView v = split_heads(onnx.inputs.at(kValue), kv_heads);
  RecurrentAttentionOptions options = {.rule = rule_of(onnx)};
  if (onnx.number("scale", 0) != 0) options.scale = onnx.number("scale", 0);
  if (onnx.has_input(kPastState)) options.past_state = onnx.inputs[kPastState].view();
  if (onnx.has_input(kDecay)) options.decay = split_heads(onnx.inputs[kDecay], kv_heads);
  if (onnx.has_input(kBeta)) options.beta = onnx.inputs[kBeta].view().transpose(1, 2);  // [B, T, Hk or 1]
  RecurrentAttentionResult result = recurrent_attention(q, k, v, options);
  return {merge_heads(result.out), std::move(result.state)};
}

}  // namespace qkv::conformance
