// One ONNX node test, read into plain types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "qkv/tensor.h"

namespace qkv::conformance {

/// A graph as an attribute: its operators in their order, parted by spaces, and its constants that are one float.
struct Subgraph {
  std::string operators;
  std::vector<double> constants;
};

/// A folder with a model of one node, its inputs and the outputs that it must give. Inputs and outputs stand where the
/// operator's signature puts them; one that the node leaves out is an empty() tensor.
struct OnnxCase {
  std::string operator_name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::map<std::string, std::variant<std::int64_t, double, std::string, Subgraph>> attributes;
  std::string target = {};  // that attention is to run on; empty: the chosen one

  [[nodiscard]] bool has_input(std::size_t place) const { return place < inputs.size() && !inputs[place].empty(); }
  [[nodiscard]] bool has_output(std::size_t place) const { return place < outputs.size() && !outputs[place].empty(); }
  [[nodiscard]] bool has(const std::string& attribute) const { return attributes.contains(attribute); }
  [[nodiscard]] std::int64_t integer(const std::string& attribute, std::int64_t otherwise) const;
  [[nodiscard]] double number(const std::string& attribute, double otherwise) const;
  [[nodiscard]] Subgraph graph(const std::string& attribute) const;
  [[nodiscard]] std::string text(const std::string& attribute, const std::string& otherwise) const;
};

/// Reads model.onnx and test_data_set_0. Throws Error naming the file for what cannot be read.
[[nodiscard]] OnnxCase read_onnx_case(const std::filesystem::path& folder);

}  // namespace qkv::conformance
