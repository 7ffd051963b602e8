#include <fmt/format.h>

#include <cmath>

#include "qkv/course/worked.h"

namespace qkv {
namespace {

std::string cell(double value, int decimals) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const double shown = std::fabs(value) < 0.5 * std::pow(10.0, -decimals) ? 0.0 : value;
  return fmt::format("{:.{}f}", shown, decimals);
}

/// A `|` would end the cell.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string label(const std::vector<std::string>& labels, std::int64_t i) {
  return static_cast<std::size_t>(i) < labels.size() ? labels[static_cast<std::size_t>(i)] : std::string();
}

std::string table_of(const WorkedTensor& tensor) {
  const TensorView view = tensor.values.rank() == 2 ? tensor.values.view() : tensor.values.view().unsqueeze(0);
  std::string text = fmt::format("\n| {} |", tensor.name);
  std::string rule = "\n|---|";
  for (std::int64_t j = 0; j < view.dim(1); ++j) {
    text += fmt::format(" {} |", escaped(label(tensor.column_labels, j)));
    rule += "---:|";
  }
  text += rule;
  for (std::int64_t i = 0; i < view.dim(0); ++i) {
    text += fmt::format("\n| {} |", escaped(label(tensor.row_labels, i)));
    for (std::int64_t j = 0; j < view.dim(1); ++j) text += fmt::format(" {} |", cell(view.at({i, j}), tensor.decimals));
  }
  return text + "\n";
}

// `image` counts the pictures of an example, which scripts/make-pictures draws.
std::string step_text(const WorkedStep& step, const std::string& example, int& image) {
  std::string text = fmt::format("\n**{}**", step.title);
  if (!step.formula.empty()) text += fmt::format(": `{}`", step.formula);
  if (!step.text.empty()) text += ". " + step.text;
  text += '\n';
  for (const WorkedTensor& tensor : step.tensors) text += table_of(tensor);
  for (const Diagram& diagram : step.diagrams) {
    text += fmt::format("\n![{}](images/worked-{}-{}.svg)\n", diagram.text, example, image++);
  }
  return text;
}

}  // namespace

std::string to_markdown(const Worked& worked) {
  const WorkedExample& example = worked.example;
  std::string text = fmt::format("### {}\n\n`{}`: {}, {}. {}\n", example.title, example.name, example.seed,
                                 example.place, example.summary);
  int image = 0;
  for (const WorkedStep& step : worked.steps) text += step_text(step, example.name, image);
  text += "\n| place and figure | printed | computed | | why |\n|---|---|---|---|---|\n";
  for (const WorkedClaim& claim : worked.claims) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", escaped(claim.what), escaped(claim.printed),
                        escaped(claim.computed), name_of(claim.agreement), escaped(claim.remark));
  }
  return text;
}

std::string corrections_markdown() {
  std::string text = "| seed | place and figure | printed | right | why | example |\n|---|---|---|---|---|---|\n";
  for (const WorkedExample& example : worked_examples()) {
    for (const WorkedClaim& claim : run_worked(example.name).claims) {
      if (claim.agreement == Agreement::agrees) continue;
      text += fmt::format("| {} | {} | {} | {} | {} | `{}` |\n", example.seed.substr(0, example.seed.find(',')),
                          escaped(claim.what), escaped(claim.printed), escaped(claim.computed), escaped(claim.remark),
                          example.name);
    }
  }
  return text;
}

}  // namespace qkv
