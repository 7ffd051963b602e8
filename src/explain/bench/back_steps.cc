// The steps from the gradient of the output back to those of the inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/bench/terms.h"
#include "explain/words.h"

namespace qkv {
namespace {

using namespace explain_detail;

BenchStep step_of(const Bench& bench, const std::string& id, const std::string& title, std::string sentence) {
  std::vector<std::string> used;
  for (const Pattern& source : rule_of(bench, id).sources) used.push_back(source.matrix);
  return {.id = id,
          .title = title,
          .sentence = std::move(sentence),
          .formulas = {bench.matrix(id).formula},
          .made = {id},
          .used = std::move(used)};
}

/// The row of a matrix of the chosen query, number by number.
std::vector<Formula> query_row(const Bench& bench, const std::string& matrix) {
  constexpr std::int64_t kMost = 12;
  std::vector<Formula> formulas = {bench.matrix(matrix).formula};
  const std::int64_t columns = std::min(kMost, bench.matrix(matrix).values.dim(1));
  for (std::int64_t j = 0; j < columns; ++j) {
    formulas.push_back(bench.number(fmt::format("{}:{},{}", matrix, bench.inputs().query, j)).formula);
  }
  return formulas;
}

std::string sum_of_row(const Bench& bench) {
  const std::vector<double> row = row_of(bench.matrix("d_scores"), bench.inputs().query);
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  constexpr double kRounding = 1e-12;
  return std::abs(sum) < kRounding ? "0" : brief(sum);
}

std::string scores_sentence(const Bench& bench, const std::string& name) {
  const std::vector<double> weights = row_of(bench.matrix("weights"), bench.inputs().query);
  if (std::ranges::all_of(weights, [](double weight) { return weight == 0; })) {
    return fmt::format("“{}” sees nothing: no score of it moves the output, and its row is all 0.", name);
  }
  return fmt::format(
      "Weights share 1: more for one key is less for the others. So each is held against their mean δ, and the row of "
      "“{}” sums to {}.",
      name, sum_of_row(bench));
}

}  // namespace

std::vector<BenchStep> Bench::back_steps() const {
  if (find("d_out") == nullptr) return {};
  const std::string name = distinct_names(inputs_.queries)[static_cast<std::size_t>(inputs_.query)];
  BenchStep start = step_of(*this, "d_out", "dY",
                            "What is asked of the output: by how much the loss grows if a number of it grows by 1.");
  BenchStep values =
      step_of(*this, "d_v", "dV", "Each value gets back as much as it gave: the same weights, the other way round.");
  BenchStep weights = step_of(*this, "d_weights", "dP",
                              "A weight matters as much as its value points the way that the output should go.");
  BenchStep scores = step_of(*this, "d_scores", "dS", scores_sentence(*this, name));
  scores.made = {"delta", "d_scores", "d_raw"};
  BenchStep ends =
      step_of(*this, "d_q", "dQ, dK",
              "A query moves towards the keys that should have scored more, and a key towards its queries.");
  ends.made = {"d_q", "d_k"};
  ends.used = {"d_raw", "k", "q"};
  weights.formulas = query_row(*this, "d_weights");
  scores.formulas = query_row(*this, "d_scores");
  ends.formulas = query_row(*this, "d_q");
  ends.formulas.push_back(matrix("d_k").formula);
  std::vector<BenchStep> steps = {start, values, weights, scores, ends};
  if (find("x") != nullptr) {
    BenchStep projections =
        step_of(*this, "d_x", "dX, dW", "What made queries, keys and values learns from all tokens at once.");
    projections.made = {"d_w_q", "d_w_k", "d_w_v", "d_x"};
    if (find("d_source") != nullptr) projections.made.emplace_back("d_source");
    steps.push_back(std::move(projections));
  }
  return steps;
}

}  // namespace qkv
