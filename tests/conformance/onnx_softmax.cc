#include "conformance/onnx_operator.h"
#include "qkv/softmax.h"

namespace qkv::conformance {
namespace {

int axis_of(const OnnxCase& onnx) { return static_cast<int>(onnx.integer("axis", -1)); }

}  // namespace

std::vector<Tensor> run_softmax(const OnnxCase& onnx) { return {softmax(onnx.inputs.at(0), axis_of(onnx))}; }

std::vector<Tensor> run_log_softmax(const OnnxCase& onnx) { return {log_softmax(onnx.inputs.at(0), axis_of(onnx))}; }

}  // namespace qkv::conformance
