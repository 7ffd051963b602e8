// An ONNX operator computed by qkv. To add one: write onnx_<family>.cc with its function, declare it here, and give it
// a line in onnx_operators.cc; every case of the data becomes a test of its own name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "conformance/onnx_case.h"
#include "qkv/tensor.h"

namespace qkv::conformance {

/// The node's outputs in the operator's order; those that the case does not ask for may be empty().
using RunOperator = std::vector<Tensor> (*)(const OnnxCase&);

struct OnnxOperator {
  std::string_view name;         // op_type in the model
  std::string_view test_prefix;  // the folders of its cases start with it
  int cases;                     // as many as the data has, so that none is lost in silence
  RunOperator run;
  bool on_every_target = false;  // its cases run on each target that this machine runs, rather than on the chosen one
};

[[nodiscard]] std::span<const OnnxOperator> onnx_operators();

[[nodiscard]] std::vector<Tensor> run_attention(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_flex_attention(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_gelu(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_layer_normalization(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_linear_attention(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_log_softmax(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_rms_normalization(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_rotary_embedding(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_softmax(const OnnxCase& onnx);
[[nodiscard]] std::vector<Tensor> run_tensor_scatter(const OnnxCase& onnx);

}  // namespace qkv::conformance
