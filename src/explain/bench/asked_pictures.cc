// Self- beside cross-attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/bench/terms.h"
#include "explain/words.h"
#include "qkv/explain/pictures.h"
#include "qkv/random.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr std::size_t kMostAsking = 12;

bool is_own_text(const BenchInputs& inputs) {
  return inputs.queries == inputs.keys && inputs.queries.size() <= kMostAsking && inputs.q.dim(1) == 1 &&
         inputs.q.dtype() == DType::f64;
}

Tensor weights_of(const Bench& bench, const Tensor& q) {
  const BenchInputs& inputs = bench.inputs();
  AttentionOptions options;
  options.scale = inputs.options.scale;
  options.softcap = inputs.options.softcap;
  const Tensor all = attention_stage(q, inputs.k, options, Stage::weights);
  return all.reshape({q.dim(2), inputs.k.dim(2)});
}

// FNV-1a: the same word has the same query wherever it is asked.
std::uint64_t seed_of(const std::string& word) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return hash;
}

std::vector<double> query_of(const Bench& bench, const std::string& word) {
  const BenchInputs& inputs = bench.inputs();
  const auto own = std::ranges::find(inputs.queries, word);
  if (own != inputs.queries.end()) return row_of(bench.matrix("q"), own - inputs.queries.begin());
  std::vector<double> drawn = Generator(seed_of(word)).randn({inputs.q.dim(3)}, DType::f64).to_vector();
  constexpr double kTenth = 10;
  for (double& number : drawn) number = std::round(number * kTenth) / kTenth;
  return drawn;
}

}  // namespace

std::optional<AskedPicture> self_picture(const Bench& bench) {
  const BenchInputs& inputs = bench.inputs();
  if (!is_own_text(inputs)) return std::nullopt;
  return AskedPicture{.queries = distinct_names(inputs.queries),
                      .keys = distinct_names(inputs.keys),
                      .weights = weights_of(bench, inputs.q),
                      .sentence = fmt::format("Self-attention: the {0} words ask each other, {0} × {0} weights.",
                                              inputs.queries.size())};
}

std::optional<AskedPicture> cross_picture(const Bench& bench, const std::vector<std::string>& words) {
  const BenchInputs& inputs = bench.inputs();
  if (!is_own_text(inputs) || words.empty()) return std::nullopt;
  if (words.size() > kMostAsking) {
    throw InvalidArgument("cross_picture", "other", fmt::format("{} words at most", kMostAsking),
                          std::to_string(words.size()));
  }
  std::vector<double> rows;
  for (const std::string& word : words) {
    const std::vector<double> query = query_of(bench, word);
    rows.insert(rows.end(), query.begin(), query.end());
  }
  const Tensor q(rows, {1, 1, std::ssize(words), inputs.q.dim(3)});
  return AskedPicture{
      .queries = distinct_names(words),
      .keys = distinct_names(inputs.keys),
      .weights = weights_of(bench, q),
      .sentence = fmt::format("Cross-attention: {} words of another text ask the same keys, {} × {} weights. Keys and "
                              "values have not changed.",
                              words.size(), words.size(), inputs.keys.size())};
}

}  // namespace qkv
