#include "qkv/explain/operations.h"

#include <fmt/format.h>

#include "explain/formula.h"
#include "explain/operation_code.h"

namespace qkv {
namespace {

using explain_detail::SevenCodes;

constexpr const char* kScores = "src/kernels/reference/pair_scores.cc";
constexpr const char* kSoftmax = "src/kernels/reference/softmax.cc";
constexpr const char* kHeads = "src/attention/heads.cc";

std::vector<OperationCode> in_seven(const SevenCodes& codes) {
  std::vector<OperationCode> all;
  for (std::size_t n = 0; n < codes.size(); ++n) all.push_back({operation_languages()[n].id, codes.at(n)});
  return all;
}

Formula formula_of(const char* text) { return math::typeset(text); }

std::vector<Operation> all_operations() {
  using namespace explain_detail;
  return {
      {.id = "product",
       .title = "Matrix product",
       .why = "Makes queries, keys and values of the tokens' vectors: each row of X times each column of W.",
       .formula = formula_of("Q = X W_Q"),
       .file = "src/autograd/matmul.cc",
       .symbol = "linear",
       .steps = {"query"},
       .code = in_seven(kProductCode)},
      {.id = "split",
       .title = "Split into heads",
       .why = "Each head gets its own part of every token's vector. Nothing is computed: the same numbers, read in "
              "another order.",
       .formula = formula_of("[T, H d] → [H, T, d]"),
       .file = kHeads,
       .symbol = "split_heads",
       .steps = {"query"},
       .code = in_seven(kSplitCode)},
      {.id = "dots",
       .title = "Dot products",
       .why = "How well each key fits each query.",
       .formula = formula_of("S = Q K^T"),
       .file = kScores,
       .symbol = "PairScores::score",
       .steps = {"dots"},
       .code = in_seven(kDotsCode)},
      {.id = "scale",
       .title = "Scale",
       .why = "Keeps the spread of the scores, however long the keys are.",
       .formula = formula_of("S / sqrt(d_k)"),
       .file = kScores,
       .symbol = "problem_.scale * raw",
       .steps = {"scale", "scaled"},
       .code = in_seven(kScaleCode)},
      {.id = "mask",
       .title = "Mask",
       .why = "A pair that must not be seen gets the score −∞, and so the weight 0. Here: no token sees a later one.",
       .formula = formula_of("S_ij = −∞ where j > i"),
       .file = kScores,
       .symbol = "PairScores::hides",
       .steps = {"scale", "masked"},
       .code = in_seven(kMaskCode)},
      {.id = "max",
       .title = "Largest score of a row",
       .why = "Taken out of the row, so that no exponential overflows. The weights stay the same.",
       .formula = formula_of("m = max s"),
       .file = kSoftmax,
       .symbol = "sum_row",
       .steps = {"softmax", "max"},
       .code = in_seven(kMaxCode)},
      {.id = "exp",
       .title = "Exponentials",
       .why = "Makes every score positive, and lets large ones stand out.",
       .formula = formula_of("e = exp(s − m)"),
       .file = kSoftmax,
       .symbol = "core::exp(score - row.max)",
       .steps = {"softmax", "exp"},
       .code = in_seven(kExpCode)},
      {.id = "total",
       .title = "Sum of the row",
       .why = "The whole of which each key gets its share.",
       .formula = formula_of("z = sum(e)"),
       .file = kSoftmax,
       .symbol = "row.sum +=",
       .steps = {"softmax", "total"},
       .code = in_seven(kTotalCode)},
      {.id = "divide",
       .title = "Divide",
       .why = "The weights of a row: each between 0 and 1, together 1.",
       .formula = formula_of("P = e / z"),
       .file = kSoftmax,
       .symbol = "softmax_row",
       .steps = {"softmax", "divide"},
       .code = in_seven(kDivideCode)},
      {.id = "sum",
       .title = "Weighted sum of the values",
       .why = "The output: values mixed by their weights.",
       .formula = formula_of("Y = P V"),
       .file = "src/kernels/reference/attention.cc",
       .symbol = "sum[d] += weight * value[d]",
       .steps = {"sum"},
       .code = in_seven(kSumCode)},
      {.id = "merge",
       .title = "Join the heads",
       .why = "The heads' outputs side by side again, one row for each token.",
       .formula = formula_of("[H, T, d] → [T, H d]"),
       .file = kHeads,
       .symbol = "merge_heads",
       .steps = {"sum"},
       .code = in_seven(kMergeCode)},
      {.id = "backward",
       .title = "Softmax backward",
       .why = "Weights share 1, so the gradient of each is held against their mean δ.",
       .formula = formula_of("dS = P (dP − δ)"),
       .file = "src/kernels/reference/backward.cc",
       .symbol = "weight * (d_weight - delta)",
       .steps = {"d_scores"},
       .code = in_seven(kBackwardCode)},
  };
}

std::string without_breaks(std::string text) {
  for (char& letter : text) letter = letter == '|' ? '/' : letter;
  return text;
}

}  // namespace

const std::vector<OperationLanguage>& operation_languages() {
  static const std::vector<OperationLanguage> kAll = {{"pseudocode", "Pseudocode"},
                                                      {"python", "Python"},
                                                      {"javascript", "JavaScript"},
                                                      {"c", "C"},
                                                      {"cpp", "C++"},
                                                      {"java", "Java"},
                                                      {"go", "Go"}};
  return kAll;
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kAll = all_operations();
  return kAll;
}

std::string operations_as_markdown() {
  std::string text = "| operation | formula | what for | where qkv does it |\n|---|---|---|---|\n";
  for (const Operation& one : operations()) {
    text += fmt::format("| {} | {} | {} | `{}`, `{}` |\n", one.title, without_breaks(one.formula.text), one.why,
                        one.file, one.symbol);
  }
  for (const Operation& one : operations()) {
    text += fmt::format("\n### {}\n", one.title);
    for (std::size_t n = 0; n < one.code.size(); ++n) {
      text += fmt::format("\n{}:\n\n```text\n{}\n```\n", operation_languages()[n].title, one.code[n].text);
    }
  }
  return text;
}

}  // namespace qkv
