// A worked example of the seeds as an explanation, so that it is shown like any other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ascii.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "qkv/course/worked.h"
#include "qkv/explain.h"

namespace qkv {
namespace {

using namespace explain_detail;

// Rank 0 and 1 as one row.
Tensor as_matrix(const Tensor& values) {
  TensorView view = values;
  while (view.rank() < 2) view = view.unsqueeze(0);
  return {view, DType::f64};
}

bool has_negative(const Tensor& values) {
  for (const double value : values.to_vector()) {
    if (value < 0 && std::isfinite(value)) return true;
  }
  return false;
}

NamedHeatmap heatmap_of(const WorkedTensor& tensor, std::string id) {
  NamedHeatmap named;
  named.id = std::move(id);
  named.heatmap.title = tensor.name;
  named.heatmap.values = as_matrix(tensor.values);
  if (std::ssize(tensor.row_labels) == named.heatmap.values.dim(0)) named.heatmap.row_labels = tensor.row_labels;
  if (std::ssize(tensor.column_labels) == named.heatmap.values.dim(1)) {
    named.heatmap.column_labels = tensor.column_labels;
  }
  named.heatmap.value_name = tensor.name;
  named.heatmap.decimals = tensor.decimals;
  named.heatmap.colours = has_negative(named.heatmap.values) ? ColourMap::diverging : ColourMap::sequential;
  return named;
}

// "Scaled scores" → "scaled-scores": a name for anchors and files.
std::string slug(std::string_view title) {
  std::string id;
  for (const char c : title) {
    if (core::is_letter(c) || core::is_digit(c)) {
      id += core::small_letter(c);
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  return id.ends_with('-') ? id.substr(0, id.size() - 1) : id;
}

Section section_of(const WorkedStep& step, int number, const std::vector<Section>& before) {
  Section section;
  section.number = number;
  section.id = slug(step.title);
  if (std::ranges::find(before, section.id, &Section::id) != before.end()) section.id += fmt::format("-{}", number);
  section.title = step.title;
  section.text = step.text;
  if (!step.formula.empty()) {
    section.formulas.push_back(math::typeset(step.formula));
  }
  std::size_t index = 0;
  for (const WorkedTensor& tensor : step.tensors) {
    if (tensor.values.empty() || tensor.values.rank() > 2 || tensor.values.size() == 0) continue;
    section.heatmaps.push_back(heatmap_of(tensor, fmt::format("{}-{}", section.id, index++)));
  }
  for (const Diagram& diagram : step.diagrams) {
    section.diagrams.push_back({fmt::format("{}-drawing-{}", section.id, section.diagrams.size()), diagram});
  }
  return section;
}

Section claims_of(const Worked& worked) {
  Section section;
  section.id = "claims";
  section.number = static_cast<int>(worked.steps.size()) + 1;
  section.title = "What the document prints, and what comes out";
  section.text = fmt::format("From {}: {}.", worked.example.seed, worked.example.place);
  const bool any_remark = std::any_of(worked.claims.begin(), worked.claims.end(),
                                      [](const WorkedClaim& claim) { return !claim.remark.empty(); });
  Table table{"", {"figure", "printed", "computed", "verdict", "why"}, {}};
  if (!any_remark) table.columns.pop_back();
  for (const WorkedClaim& claim : worked.claims) {
    table.rows.push_back(
        {word(claim.what), word(claim.printed), word(claim.computed), word(std::string(name_of(claim.agreement)))});
    if (any_remark) table.rows.back().push_back(word(claim.remark));
  }
  table.is_list = true;
  section.tables = {std::move(table)};
  return section;
}

}  // namespace

Explanation explain_worked(std::string_view name) {
  const Worked worked = run_worked(name);
  Explanation explanation;
  explanation.title = worked.example.title;
  explanation.settings = {
      {"example", worked.example.name}, {"from", worked.example.seed}, {"place", worked.example.place}};
  explanation.notes = {worked.example.summary};
  int number = 0;
  for (const WorkedStep& step : worked.steps) {
    explanation.steps.push_back(section_of(step, ++number, explanation.steps));
  }
  if (!worked.claims.empty()) explanation.steps.push_back(claims_of(worked));
  return explanation;
}

}  // namespace qkv
