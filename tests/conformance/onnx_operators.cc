#include <array>

#include "conformance/onnx_operator.h"

namespace qkv::conformance {

std::span<const OnnxOperator> onnx_operators() {
  static constexpr std::array kOperators = {
      OnnxOperator{.name = "Attention",
                   .test_prefix = "test_attention_",
                   .cases = 93,
                   .run = run_attention,
                   .on_every_target = true},
      OnnxOperator{.name = "FlexAttention",
                   .test_prefix = "test_flexattention_",
                   .cases = 11,
                   .run = run_flex_attention,
                   .on_every_target = true},
      OnnxOperator{"Gelu", "test_gelu_", 4, run_gelu},
      OnnxOperator{"LayerNormalization", "test_layer_normalization_", 19, run_layer_normalization},
      OnnxOperator{"LinearAttention", "test_linear_attention_", 14, run_linear_attention},
      OnnxOperator{"LogSoftmax", "test_logsoftmax_", 7, run_log_softmax},
      OnnxOperator{"RMSNormalization", "test_rms_normalization_", 19, run_rms_normalization},
      OnnxOperator{"RotaryEmbedding", "test_rotary_embedding_", 8, run_rotary_embedding},
      OnnxOperator{"Softmax", "test_softmax_", 7, run_softmax},
      OnnxOperator{"TensorScatter", "test_tensorscatter_", 3, run_tensor_scatter},
  };
  return kOperators;
}

}  // namespace qkv::conformance
