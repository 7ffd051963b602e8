// The operations of attention: the formula of each, where qkv computes it, and its code in seven languages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain.h"

namespace qkv {

struct OperationCode {
  std::string language;  // a word of operation_languages()
  std::string text;      // lines
};

struct Operation {
  std::string id;
  std::string title;
  std::string why;  // a sentence
  Formula formula;
  std::string file;                // of the tree: "src/kernels/reference/softmax.cc"
  std::string symbol;              // the function there
  std::vector<std::string> steps;  // ids of the BenchSteps that show it
  std::vector<OperationCode> code;
};

struct OperationLanguage {
  std::string id;     // "cpp"
  std::string title;  // "C++"
};

/// Pseudocode, Python with NumPy, JavaScript, C, C++, Java, Go.
[[nodiscard]] const std::vector<OperationLanguage>& operation_languages();

/// In the order of the computation, the backward pass last.
[[nodiscard]] const std::vector<Operation>& operations();

/// The table of docs/operations.md.
[[nodiscard]] std::string operations_as_markdown();

}  // namespace qkv
