// The worked examples of the documents that qkv grew from ("the seeds"), computed again and held against what they
// print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain.h"
#include "qkv/picture/diagram.h"
#include "qkv/tensor.h"

namespace qkv {

/// One entry of the list: what `qkv explain --worked NAME` replays.
struct WorkedExample {
  std::string name;     // "lab-toy"
  std::string seed;     // "003, the lab on attention mechanisms"
  std::string place;    // "Complete Example"
  std::string title;    // "A toy example of three tokens"
  std::string summary;  // one sentence: what it shows
};

/// A tensor of rank 0, 1 or 2 computed for a step, with what is needed to print or draw it.
struct WorkedTensor {
  std::string name;                        // "scores"
  Tensor values;                           // f64 or f32
  std::vector<std::string> row_labels;     // empty, or one a row
  std::vector<std::string> column_labels;  // empty, or one a column
  int decimals = 4;
};

struct WorkedStep {
  std::string title;    // "Scaled scores"
  std::string formula;  // plain text: "S / sqrt(d_k) = S / 2.8284"; empty where the title says it
  std::string text;     // what to see here; may be empty
  std::vector<WorkedTensor> tensors;
  std::vector<Diagram> diagrams = {};
};

/// How a printed figure stands to the computed one.
enum class Agreement : std::uint8_t {
  agrees,        // to the last digit printed
  rounding,      // off in the last digit, and the remark says how it came about
  wrong,         // the computed figure is the right one
  not_derivable  // nothing in the seed fixes it; the remark says what can be said
};
[[nodiscard]] std::string_view name_of(Agreement agreement) noexcept;

/// A figure or statement of a seed beside what qkv computes.
struct WorkedClaim {
  std::string what;      // "softmax of [2.3, -1.2, 4.5, 0.1]"
  std::string printed;   // as in the seed: "[0.12, 0.01, 0.85, 0.02]"
  std::string computed;  // there and then: "[0.0984, 0.0030, 0.8878, 0.0109]"
  Agreement agreement = Agreement::agrees;
  std::string remark;  // why; may be empty where they agree
};

struct Worked {
  WorkedExample example;
  std::vector<WorkedStep> steps;
  std::vector<WorkedClaim> claims;
};

/// All of them, in the order of the seeds.
[[nodiscard]] const std::vector<WorkedExample>& worked_examples();

/// Computes one. Throws InvalidArgument listing the names if there is no such example.
[[nodiscard]] Worked run_worked(std::string_view name);

/// The same as an explanation: its steps, and what its document prints beside what comes out. Throws InvalidArgument
/// listing the names.
[[nodiscard]] Explanation explain_worked(std::string_view name);

/// A section of docs/worked-examples.md: heading, steps with their tensors as tables, claims.
[[nodiscard]] std::string to_markdown(const Worked& worked);

/// Every claim of every example that does not agree, as one table.
[[nodiscard]] std::string corrections_markdown();

}  // namespace qkv
