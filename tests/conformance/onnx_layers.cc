#include <optional>
#include <utility>

#include "conformance/onnx_operator.h"
#include "qkv/heads.h"
#include "qkv/nn/activation.h"
#include "qkv/nn/embedding.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"

namespace qkv::conformance {
namespace {

// ONNX names the first normalised axis; a negative one counts from the end.
Shape normalized_shape(const OnnxCase& onnx) {
  const Shape& shape = onnx.inputs.at(0).shape();
  const auto axis = static_cast<int>(onnx.integer("axis", -1));
  Shape normalized;
  for (int i = axis < 0 ? axis + shape.rank() : axis; i < shape.rank(); ++i) normalized.push_back(shape[i]);
  return normalized;
}

std::optional<Tensor> optional_input(const OnnxCase& onnx, std::size_t place) {
  return onnx.has_input(place) ? std::optional<Tensor>(onnx.inputs[place]) : std::nullopt;
}

// With positions the cache is [positions, pairs] and looked up; without it is [B, T, pairs] already.
Tensor rotary_table(const OnnxCase& onnx, std::size_t place) {
  const Tensor& cache = onnx.inputs.at(place);
  return onnx.has_input(3) ? gather_rows(cache, onnx.inputs[3], "RotaryEmbedding", "position_ids") : cache;
}

}  // namespace

std::vector<Tensor> run_gelu(const OnnxCase& onnx) {
  const bool tanh = onnx.text("approximate", "none") == "tanh";
  return {activate(tanh ? Activation::gelu_tanh : Activation::gelu, onnx.inputs.at(0))};
}

std::vector<Tensor> run_layer_normalization(const OnnxCase& onnx) {
  const LayerNorm layer({.normalized = normalized_shape(onnx),
                         .epsilon = onnx.number("epsilon", 1e-5),
                         .weight = onnx.inputs.at(1),
                         .bias = optional_input(onnx, 2)});
  NormStatistics statistics = layer.statistics(onnx.inputs[0]);
  return {layer.forward(onnx.inputs[0]), std::move(statistics.mean), std::move(statistics.inv_std)};
}

std::vector<Tensor> run_rms_normalization(const OnnxCase& onnx) {
  const RMSNorm layer(
      {.normalized = normalized_shape(onnx), .epsilon = onnx.number("epsilon", 1e-5), .weight = onnx.inputs.at(1)});
  return {layer.forward(onnx.inputs[0])};
}

std::vector<Tensor> run_rotary_embedding(const OnnxCase& onnx) {
  const bool interleaved = onnx.integer("interleaved", 0) != 0;
  const RotaryTables tables{.cos = rotary_table(onnx, 1),
                            .sin = rotary_table(onnx, 2),
                            .layout = interleaved ? RotaryLayout::interleaved : RotaryLayout::half_split};
  const Tensor& x = onnx.inputs.at(0);
  if (x.rank() == 4) return {apply_rotary(x, tables)};
  return {merge_heads(apply_rotary(split_heads(x, onnx.integer("num_heads", 0)), tables))};
}

}  // namespace qkv::conformance
