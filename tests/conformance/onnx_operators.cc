#include <array>

#include "conformance/onnx_operator.h"

namespace qkv::conformance {

std::span<const OnnxOperator> onnx_operators() {
  static constexpr std::array kOperators = {
      OnnxOperator{"Attention", "test_attention_", 76, run_attention},
      OnnxOperator{"LogSoftmax", "test_logsoftmax_", 7, run_log_softmax},
      OnnxOperator{"Softmax", "test_softmax_", 7, run_softmax},
  };
  return kOperators;
}

}  // namespace qkv::conformance
