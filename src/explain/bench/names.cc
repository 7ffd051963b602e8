// What each matrix of the bench is called, and what it means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/watched.h"
#include "explain/bench/matrices.h"
#include "explain/formula.h"

namespace qkv::explain_detail {
namespace {

struct Kind {
  std::string_view name;
  std::string_view title;
  std::string_view meaning;
  std::string_view role;
  std::string_view formula;
};

constexpr std::array<Kind, 38> kKinds = {{
    {"embedded", "E", "embeddings: what stands in the table for each word", "input", "E"},
    {"encoding", "P", "positions: what tells the first word from the second", "input", "P"},
    {"x", "X", "the vectors of the tokens", "input", "X"},
    {"source", "C", "the vectors of the other text, which keys and values come from", "input", "C"},
    {"w_q", "W_Q", "what a query is made with", "input", "W_Q"},
    {"w_k", "W_K", "what a key is made with", "input", "W_K"},
    {"w_v", "W_V", "what a value is made with", "input", "W_V"},
    {"q", "Q", "queries: what each token looks for", "input", "Q = X W_Q"},
    {"k", "K", "keys: what each token offers to be found by", "input", "K = X W_K"},
    {"v", "V", "values: what each token gives when it is looked at", "input", "V = X W_V"},
    {"raw", "Q Kᵀ", "dot products: how well each query fits each key", "forward", "Q K^T"},
    {"scaled", "S", "scores: the dot products, scaled", "forward", "S = Q K^T / sqrt(d_k)"},
    {"softcapped", "S", "scores after the softcap: c · tanh(S / c)", "forward", "c tanh(S / c)"},
    {"biased", "S + B", "scores with the bias", "forward", "S + B"},
    {"masked", "S", "scores after the mask: what is hidden is −∞", "forward", "S"},
    {"max", "max", "the largest score of each row", "forward", "m = max S"},
    {"exp", "exp", "e to the power of each score less the largest", "forward", "E = exp(S − m)"},
    {"sum", "sum", "the sum of each row of exponentials", "forward", "Z = sum E"},
    {"weights", "α", "weights: how much each query takes from each key", "forward", "softmax(S) = E / Z"},
    {"parts", "α v", "each value times its weight, for the chosen query", "forward", "α v"},
    {"path", "Σ α v", "their sums so far, key by key", "forward", "Σ α v"},
    {"out", "Y", "outputs: values, mixed by the weights", "forward", "Y = softmax(S) V"},
    {"concat", "[Y₁ …]", "the outputs of all heads, side by side", "forward", "Concat(Y_1, …)"},
    {"w_o", "W_O", "what mixes the heads", "input", "W_O"},
    {"output", "O", "what attention gives each token", "forward", "O = Concat(Y_1, …) W_O"},
    {"d_out", "dY", "how the loss changes with each output", "backward", "dY"},
    {"d_v", "dV", "how the loss changes with each value", "backward", "dV = α^T dY"},
    {"d_weights", "dP", "how the loss changes with each weight", "backward", "dP = dY V^T"},
    {"delta", "δ", "the weighted mean of each row of dP", "backward", "δ = sum α dP"},
    {"d_scores", "dS", "how the loss changes with each score; each row sums to 0", "backward", "dS = α (dP − δ)"},
    {"d_raw", "d(Q Kᵀ)", "how the loss changes with each dot product", "backward", "dS / sqrt(d_k)"},
    {"d_q", "dQ", "how the loss changes with each query", "backward", "dQ = dS K / sqrt(d_k)"},
    {"d_k", "dK", "how the loss changes with each key", "backward", "dK = dS^T Q / sqrt(d_k)"},
    {"d_w_q", "dW_Q", "how the loss changes with what queries are made with", "backward", "dW_Q = X^T dQ"},
    {"d_w_k", "dW_K", "how the loss changes with what keys are made with", "backward", "dW_K = X^T dK"},
    {"d_w_v", "dW_V", "how the loss changes with what values are made with", "backward", "dW_V = X^T dV"},
    {"d_x", "dX", "how the loss changes with each token's vector", "backward", "dX"},
    {"d_source", "dC", "how the loss changes with the other text's vectors", "backward", "dC"},
}};

bool all_whole(const Tensor& values) {
  return std::ranges::all_of(values.values<double>(),
                             [](double value) { return !std::isfinite(value) || value == std::round(value); });
}

// Of weights they should be 1, and of the scores' gradient 0.
std::optional<Tensor> sums_of(std::string_view name, const Tensor& values) {
  if (name != "weights" && name != "d_scores") return std::nullopt;
  Tensor sums(DType::f64, {values.dim(0)});
  for (std::int64_t row = 0; row < values.dim(0); ++row) {
    const std::vector<double> numbers = values.view().select(0, row).to_vector();
    sums.values<double>()[static_cast<std::size_t>(row)] = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  return sums;
}

}  // namespace

std::vector<std::string> counted(std::int64_t n) {
  std::vector<std::string> names;
  for (std::int64_t at = 1; at <= n; ++at) names.push_back(std::to_string(at));
  return names;
}

BenchMatrix named_matrix(std::string_view name, Tensor values, std::vector<std::string> rows,
                         std::vector<std::string> columns) {
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == kKinds.end()) throw std::out_of_range("bench: no matrix " + std::string(name));
  core::look();
  const int decimals = all_whole(values) ? 0 : 3;
  std::optional<Tensor> sums = sums_of(name, values);
  return {.name = std::string(name),
          .title = std::string(kind->title),
          .meaning = std::string(kind->meaning),
          .rows = std::move(rows),
          .columns = std::move(columns),
          .values = std::move(values),
          .sums = std::move(sums),
          .role = std::string(kind->role),
          .decimals = decimals,
          .formula = math::typeset(kind->formula)};
}

}  // namespace qkv::explain_detail
