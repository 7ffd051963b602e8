#include "conformance/onnx_operator.h"
#include "qkv/kv.h"

namespace qkv::conformance {

// Every case writes along the axis before the last, which is the operator's default.
std::vector<Tensor> run_tensor_scatter(const OnnxCase& onnx) {
  if (onnx.integer("axis", -2) != -2) throw Error("a TensorScatter along an axis that no case of ours has");
  Tensor buffer = onnx.inputs.at(0);
  const Shape shape = buffer.shape();
  const bool packed = buffer.rank() == 3;
  const TensorView update = onnx.inputs.at(1);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(shape[0]));
  if (onnx.has_input(2)) {
    const std::vector<double> given = onnx.inputs[2].to_vector();
    starts.assign(given.begin(), given.end());
  }
  const MutableTensorView whole = buffer;
  scatter_time(packed ? whole.unsqueeze(1) : whole, packed ? update.unsqueeze(1) : update, starts,
               onnx.text("mode", "linear") == "circular" ? BeyondEnd::wrap : BeyondEnd::refuse);
  return {std::move(buffer)};
}

}  // namespace qkv::conformance
