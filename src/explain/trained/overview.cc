// Every head in a line: which pattern it shows in this text, and how spread its weights are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "explain/numbers.h"
#include "explain/trained/model_run.h"
#include "explain/words.h"
#include "qkv/insight/heads.h"

namespace qkv::explain_detail {
namespace {

// The tokens of a site as numbers: equal ones for equal tokens.
PatternTokens tokens_of(const SiteWeights& site) {
  PatternTokens tokens;
  tokens.is_self = site.queries == site.keys;
  std::map<std::string, std::int64_t> numbers;
  const auto number_of = [&](const std::string& token) {
    return numbers.try_emplace(token, static_cast<std::int64_t>(numbers.size())).first->second;
  };
  std::ranges::transform(site.queries, std::back_inserter(tokens.queries), number_of);
  std::ranges::transform(site.keys, std::back_inserter(tokens.keys), number_of);
  return tokens;
}

struct Shown {
  std::string name;
  double weight = 0;
};

Shown best_of_any_text(const SiteWeights& site, const std::vector<double>& weights) {
  Shown best;
  if (site.key_columns > 0) return best;
  const PatternTokens tokens = tokens_of(site);
  for (const TextPattern& pattern : text_patterns()) {
    if (!(tokens.is_self ? pattern.of_self : pattern.of_cross)) continue;
    PatternShare share;
    for (std::size_t query = 0; query < site.queries.size(); ++query) {
      const std::vector<std::size_t> keys = pattern.keys(tokens, query);
      if (keys.empty()) continue;
      ++share.rows;
      for (const std::size_t key : keys) share.weight_sum += weights[query * site.keys.size() + key];
    }
    if (share.rows >= kFewestRows && share.mean() > best.weight) best = {std::string(pattern.name), share.mean()};
  }
  return best;
}

// The mean over rows of the entropy as a share of that of an even row.
double evenness_of(const SiteWeights& site, const std::vector<double>& weights) {
  double sum = 0;
  double rows = 0;
  for (std::size_t query = 0; query < site.queries.size(); ++query) {
    double entropy = 0;
    double visible = 0;
    for (std::size_t key = 0; key < site.keys.size(); ++key) {
      const bool is_hidden = !site.hidden.empty() &&
                             site.hidden.at({static_cast<std::int64_t>(query), static_cast<std::int64_t>(key)}) != 0;
      visible += is_hidden ? 0 : 1;
      const double weight = weights[query * site.keys.size() + key];
      if (weight > 0) entropy -= weight * std::log(weight);
    }
    if (visible < 2) continue;
    sum += entropy / std::log(visible);
    ++rows;
  }
  return rows > 0 ? sum / rows : 0;
}

Shown pattern_of(const SiteWeights& site, std::size_t layer, std::size_t head, const std::vector<double>& weights) {
  Shown best = best_of_any_text(site, weights);
  for (const SitePattern& relation : site.relations) {  // the task's own word for it goes first
    const double weight = relation.layers[layer][head];
    if (weight >= kShowsPattern && weight + 0.01 >= best.weight) best = {relation.name, weight};
  }
  if (best.weight >= kShowsPattern) return best;
  const double evenness = evenness_of(site, weights);
  return evenness >= kIsBroad ? Shown{"uniform", evenness} : Shown{};
}

void add_head(Section& step, Table& table, const SiteWeights& site, std::size_t layer, std::size_t head) {
  const TensorView matrix = site.weights[layer].view().select(0, static_cast<std::int64_t>(head));
  const Shown shown_pattern = pattern_of(site, layer, head, matrix.to_vector());
  const Spread spread = mean_spread(matrix);
  const std::string name = fmt::format("{}.{}", layer, head);
  table.rows.push_back({word(name), word(shown_pattern.name.empty() ? "–" : shown_pattern.name),
                        shown_pattern.name.empty() ? word("") : rounded(shown_pattern.weight, 2),
                        rounded(spread.effective_keys, 1), rounded(spread.largest, 2)});
  step.thumbnails.push_back(
      {.title = fmt::format("{} {}", capital(site.name), name),
       .label = shown_pattern.name.empty() ? "" : fmt::format("{} {:.2f}", shown_pattern.name, shown_pattern.weight),
       .target = head_id(site, layer, head),
       .weights = Tensor(matrix, DType::f64)});
}

}  // namespace

Section overview_step(const ModelRun& model_run) {
  Section step;
  step.id = "overview";
  step.is_detail = true;
  step.title = "All heads at a glance";
  step.text =
      "Pattern: the one that the head shows best in this text, with the mean weight on its keys; none is named below a "
      "mean of 0.5. A uniform head spreads its weights nearly evenly; its number is the entropy, as a share of the "
      "largest possible. Keys in effect: exp(entropy) of a row. This and the largest weight are means over the rows.";
  const bool has_whole = model_run.sites.back().name == "whole text";
  for (const SiteWeights& site : model_run.sites) {
    if (has_whole && &site != &model_run.sites.back()) continue;  // parts of the whole text's heads
    Table table{capital(site.name), {"head", "pattern", "weight", "keys in effect", "largest weight"}, {}};
    for (std::size_t layer = 0; layer < site.weights.size(); ++layer) {
      const auto heads = static_cast<std::size_t>(site.weights[layer].dim(0));
      for (std::size_t head = 0; head < heads; ++head) add_head(step, table, site, layer, head);
    }
    step.tables.push_back(std::move(table));
  }
  return step;
}

}  // namespace qkv::explain_detail
