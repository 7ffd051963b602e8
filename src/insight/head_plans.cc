#include "insight/head_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/masked_fill.h"
#include "qkv/autograd/shape.h"

namespace qkv::insight {
namespace {

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

// The rows of one head's matrix.
struct Rows {
  std::int64_t Tq = 0;
  std::int64_t Tk = 0;
  std::vector<std::vector<double>> row;
};

Rows rows_of(const TensorView& matrix) {
  Rows rows{.Tq = matrix.dim(0), .Tk = matrix.dim(1), .row = {}};
  for (std::int64_t i = 0; i < rows.Tq; ++i) rows.row.push_back(matrix.select(0, i).to_vector());
  return rows;
}

bool sees(double score) { return score != kUnseen; }

// An edge that this head does not see is no error: one of all layers may lie outside the window of some.
void cut_edges(const HeadWeightsPlan& plan, Rows& scores) {
  for (const CutEdge& cut : plan.cuts) {
    std::vector<double>& row = scores.row[static_cast<std::size_t>(cut.query)];
    row[static_cast<std::size_t>(cut.key)] = kUnseen;
    if (std::ranges::any_of(row, sees)) continue;
    throw InvalidArgument("Intervener", "cut", fmt::format("a key to be left for query {}", cut.query),
                          fmt::format("{}, the last that it sees", cut.key));
  }
}

std::int64_t key_of(const ReplacedPattern& pattern, std::int64_t query) {
  if (pattern.source == PatternSource::key) return pattern.key;
  return pattern.source == PatternSource::self ? query : query - 1;
}

// The weights of one row; empty where it keeps its own.
std::vector<double> replaced_row(const ReplacedPattern& pattern, const std::vector<double>& scores,
                                 std::vector<double> other, std::int64_t query) {
  std::vector<double> weights(scores.size());
  if (pattern.source == PatternSource::uniform) {
    const auto seen = static_cast<double>(std::ranges::count_if(scores, sees));
    for (std::size_t j = 0; j < scores.size(); ++j) weights[j] = sees(scores[j]) ? 1 / seen : 0;
    return seen > 0 ? weights : std::vector<double>();
  }
  if (pattern.source == PatternSource::other) {
    double left = 0;
    double all = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      all += other[j];
      if (!sees(scores[j])) other[j] = 0;
      left += other[j];
    }
    if (left == all) return other;
    for (double& weight : other) weight *= left > 0 ? all / left : 0;
    return left > 0 ? other : std::vector<double>();
  }
  const std::int64_t key = key_of(pattern, query);
  if (key < 0 || !sees(scores[static_cast<std::size_t>(key)])) return {};
  weights[static_cast<std::size_t>(key)] = 1;
  return weights;
}

// Rows of `weights`, but of those that keep their own, times which they then are 1.
struct Replacement {
  Tensor weights;  // [1, 1, Tq, Tk]
  Tensor kept;     // [1, 1, Tq, 1]
};

Replacement replacement_of(const ReplacedPattern& pattern, const Rows& scores, const TensorView& others) {
  Replacement made{.weights = Tensor(DType::f64, {1, 1, scores.Tq, scores.Tk}),
                   .kept = Tensor(DType::f64, {1, 1, scores.Tq, 1})};
  for (std::int64_t i = 0; i < scores.Tq; ++i) {
    const std::vector<double>& seen = scores.row[static_cast<std::size_t>(i)];
    const std::vector<double> other = others.rank() == 2 ? others.select(0, i).to_vector() : std::vector<double>();
    const std::vector<double> row = replaced_row(pattern, seen, other, i);
    if (row.empty()) {
      made.kept.set({0, 0, i, 0}, 1);
    } else {
      made.weights.store_row(std::vector<std::int64_t>{0, 0, i}, row);
    }
  }
  return made;
}

}  // namespace

void add_head_plan(const std::string& attention, std::int64_t head, const HeadWeightsPlan& plan,
                   const TensorView& scores, const TensorView& others, Trace& trace) {
  Rows seen = rows_of(scores);
  if (!plan.cuts.empty()) {
    cut_edges(plan, seen);
    Tensor hidden(DType::b8, {1, 1, seen.Tq, seen.Tk});
    for (const CutEdge& cut : plan.cuts) hidden.set({0, 0, cut.query, cut.key}, 1);
    trace.edit_heads(attention + ".masked", {head},
                     [hidden](const Variable& matrix) { return masked_fill(matrix, hidden, kUnseen); });
  }
  if (!plan.pattern) return;
  const Replacement replacement = replacement_of(*plan.pattern, seen, others);
  trace.edit_heads(attention + ".weights", {head}, [replacement](const Variable& matrix) {
    return matrix * Variable(replacement.kept.to(matrix.dtype())) + Variable(replacement.weights.to(matrix.dtype()));
  });
}

Variable spliced(const Variable& value, const Variable& other,
                 const std::vector<std::pair<int, std::int64_t>>& places) {
  if (places.empty()) return other;
  const auto [axis, index] = places.front();
  const std::vector<std::pair<int, std::int64_t>> rest(places.begin() + 1, places.end());
  std::vector<Variable> parts;
  if (index > 0) parts.push_back(slice(value, axis, 0, index));
  parts.push_back(spliced(slice(value, axis, index, index + 1), slice(other, axis, index, index + 1), rest));
  if (index + 1 < value.dim(axis)) parts.push_back(slice(value, axis, index + 1, value.dim(axis)));
  return parts.size() == 1 ? parts.front() : concat(parts, axis);
}

}  // namespace qkv::insight
