#include "conformance/onnx_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace qkv::conformance {
namespace {

template <class Message>
Message parse(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Message message;
  if (!file || !message.ParseFromIstream(&file)) throw Error("cannot read " + path.string());
  return message;
}

DType dtype_of_element(std::int32_t type) {
  switch (type) {
    case onnx::TensorProto::DOUBLE:
      return DType::f64;
    case onnx::TensorProto::FLOAT:
      return DType::f32;
    case onnx::TensorProto::FLOAT16:
      return DType::f16;
    case onnx::TensorProto::BFLOAT16:
      return DType::bf16;
    case onnx::TensorProto::INT64:
      return DType::i64;
    case onnx::TensorProto::INT32:
      return DType::i32;
    case onnx::TensorProto::INT8:
      return DType::i8;
    case onnx::TensorProto::UINT8:
      return DType::u8;
    case onnx::TensorProto::BOOL:
      return DType::b8;
    default:
      throw Error("an ONNX element type that no case of ours has: " + std::to_string(type));
  }
}

Tensor read_tensor(const std::filesystem::path& path) {
  const auto proto = parse<onnx::TensorProto>(path);
  Shape shape;
  for (const std::int64_t extent : proto.dims()) shape.push_back(extent);
  Tensor tensor(dtype_of_element(proto.data_type()), shape);
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype());
  if (proto.raw_data().size() != bytes) {
    throw Error(path.string() + ": expected " + std::to_string(bytes) + " bytes of raw data, got " +
                std::to_string(proto.raw_data().size()));
  }
  if (bytes > 0) std::memcpy(tensor.data(), proto.raw_data().data(), bytes);
  return tensor;
}

// The k-th value of the graph is kept in <kind>_k.pb; the node names its values, an empty name is one left out.
template <class Names, class Values>
std::vector<Tensor> read_values(const std::filesystem::path& folder, const std::string& kind, const Names& names,
                                const Values& values) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) {
    if (name.empty()) {
      tensors.emplace_back();
      continue;
    }
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name() == name; });
    if (found == values.end()) throw Error(folder.string() + ": the graph has no value " + name);
    const auto k = std::to_string(std::distance(values.begin(), found));
    tensors.push_back(read_tensor(folder / "test_data_set_0" / (kind + "_" + k + ".pb")));
  }
  return tensors;
}

Subgraph subgraph_of(const onnx::GraphProto& graph) {
  Subgraph result;
  for (const onnx::NodeProto& node : graph.node()) {
    result.operators += (result.operators.empty() ? "" : " ") + node.op_type();
  }
  for (const onnx::TensorProto& constant : graph.initializer()) {
    if (constant.float_data_size() == 1) result.constants.push_back(static_cast<double>(constant.float_data(0)));
  }
  return result;
}

template <class Value, class Variant>
Value value_or(const std::map<std::string, Variant>& attributes, const std::string& name, const Value& otherwise) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? otherwise : std::get<Value>(found->second);
}

}  // namespace

std::int64_t OnnxCase::integer(const std::string& attribute, std::int64_t otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

double OnnxCase::number(const std::string& attribute, double otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

Subgraph OnnxCase::graph(const std::string& attribute) const { return std::get<Subgraph>(attributes.at(attribute)); }

std::string OnnxCase::text(const std::string& attribute, const std::string& otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

OnnxCase read_onnx_case(const std::filesystem::path& folder) {
  const auto model = parse<onnx::ModelProto>(folder / "model.onnx");
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() != 1) throw Error(folder.string() + ": expected a graph of one node");
  const onnx::NodeProto& node = graph.node(0);
  OnnxCase result;
  result.operator_name = node.op_type();
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT:
        result.attributes[attribute.name()] = std::int64_t{attribute.i()};
        break;
      case onnx::AttributeProto::FLOAT:
        result.attributes[attribute.name()] = static_cast<double>(attribute.f());
        break;
      case onnx::AttributeProto::STRING:
        result.attributes[attribute.name()] = attribute.s();
        break;
      case onnx::AttributeProto::GRAPH:
        result.attributes[attribute.name()] = subgraph_of(attribute.g());
        break;
      default:
        throw Error(folder.string() + ": an attribute of a type that no case of ours has: " + attribute.name());
    }
  }
  result.inputs = read_values(folder, "input", node.input(), graph.input());
  result.outputs = read_values(folder, "output", node.output(), graph.output());
  return result;
}

}  // namespace qkv::conformance
