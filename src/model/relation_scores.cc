#include "qkv/model/relation_scores.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/listed.h"
#include "model/test_batches.h"
#include "qkv/nn/trace.h"

namespace qkv {
namespace {

constexpr const char* kScorePattern = "score_pattern";

std::size_t index_of(const std::vector<Relation>& relations, std::string_view name) {
  const auto found = std::ranges::find(relations, name, &Relation::name);
  if (found != relations.end()) return static_cast<std::size_t>(found - relations.begin());
  throw InvalidArgument(kScorePattern, "relation", "one of the task's: " + core::joined(relations, &Relation::name),
                        "\"" + std::string(name) + "\"");
}

Shape expected_shape(const Examples& from, const Example& example, AttentionSite site) {
  const auto tokens = static_cast<std::int64_t>(example.tokens.size());
  const auto source = static_cast<std::int64_t>(example.source.size());
  if (site == AttentionSite::tokens) return {tokens, tokens};
  if (site == AttentionSite::source) return {source, source};
  return {tokens, from.lengths().image_side > 0 ? from.lengths().patches() : source};
}

void require_weights(const TensorView& weights, const Shape& expected) {
  const bool fits = weights.rank() == 3 && weights.dim(1) == expected[0] && weights.dim(2) == expected[1];
  if (fits && is_floating(weights.dtype())) return;
  throw InvalidArgument(kScorePattern, "weights",
                        "floating [heads, " + std::to_string(expected[0]) + ", " + std::to_string(expected[1]) + "]",
                        std::string(name_of(weights.dtype())) + " " + weights.shape().to_string());
}

void add_scores(const Examples& from, const Example& example, const TensorView& weights, RelationScores& scores,
                std::size_t layer) {
  const std::vector<PatternScore> more = score_pattern(from, example, scores.relation, weights);
  std::vector<PatternScore>& heads = scores.layers[layer];
  heads.resize(more.size());
  for (std::size_t h = 0; h < more.size(); ++h) heads[h] += more[h];
}

// A site that relations are of, and where a trace has its attention.
struct RelatedSite {
  AttentionSite site = AttentionSite::tokens;
  SiteScope scope;
};

std::vector<RelatedSite> related_sites(const Examples& from, const Model& model) {
  std::vector<RelatedSite> sites;
  for (const AttentionSite site : {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross}) {
    const bool is_related = std::ranges::find(from.relations(), site, &Relation::site) != from.relations().end();
    const std::optional<SiteScope> scope = is_related ? model.scope_of(site) : std::nullopt;
    if (scope) sites.push_back({.site = site, .scope = *scope});
  }
  return sites;
}

// One pass for all sites.
Trace attention_of(const Model& model, const Batch& batch, const std::vector<RelatedSite>& sites) {
  std::vector<std::string> names;
  for (const RelatedSite& own : sites) {
    for (std::int64_t layer = 0; layer < own.scope.layers; ++layer) {
      names.push_back(own.scope.name(static_cast<std::size_t>(layer)));
    }
  }
  Trace trace(std::move(names));
  model.run(input_of(batch), trace);
  return trace;
}

// All relations of one site, whose weights are computed once.
void add_site(const Examples& from, std::span<const Example> examples, const Batch& batch, const RelatedSite& own,
              const Trace& trace, std::vector<RelationScores>& all) {
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(own.scope.layers); ++layer) {
    const Tensor layer_weights = trace[own.scope.name(layer, "weights")];
    for (RelationScores& scores : all) {
      if (scores.site != own.site) continue;
      scores.layers.resize(static_cast<std::size_t>(own.scope.layers));
      for (std::size_t b = 0; b < examples.size(); ++b) {
        const TensorView weights = weights_of_example(batch, static_cast<std::int64_t>(b), own.site, layer_weights);
        add_scores(from, examples[b], weights, scores, layer);
      }
    }
  }
}

}  // namespace

void PatternScore::add(const PatternRow& row, std::span<const double> weights) noexcept {
  for (const std::int64_t key : row.keys) weight_sum += weights[static_cast<std::size_t>(key)];
  const auto top = std::ranges::max_element(weights) - weights.begin();
  hits += std::ranges::binary_search(row.keys, top) ? 1 : 0;
  ++rows;
}

PatternScore& PatternScore::operator+=(const PatternScore& other) noexcept {
  weight_sum += other.weight_sum;
  hits += other.hits;
  rows += other.rows;
  return *this;
}

double PatternScore::mean_weight() const noexcept { return rows == 0 ? 0 : weight_sum / static_cast<double>(rows); }

double PatternScore::accuracy() const noexcept {
  return rows == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(rows);
}

std::vector<PatternScore> score_pattern(const Examples& from, const Example& example, std::string_view relation,
                                        const TensorView& weights) {
  const std::size_t index = index_of(from.relations(), relation);
  const Shape expected = expected_shape(from, example, from.relations()[index].site);
  require_weights(weights, expected);
  std::vector<PatternScore> scores(static_cast<std::size_t>(weights.dim(0)));
  std::vector<double> row(static_cast<std::size_t>(expected[1]));
  for (std::size_t head = 0; head < scores.size(); ++head) {
    for (const PatternRow& pattern : example.patterns[index]) {
      const std::int64_t leading[] = {static_cast<std::int64_t>(head), pattern.query};
      weights.load_row(leading, row);
      scores[head].add(pattern, row);
    }
  }
  return scores;
}

std::int64_t held_out_examples(const Examples& from, std::int64_t count) noexcept {
  return std::min(count, from.count(Split::test).value_or(count));
}

std::vector<RelationScores> relation_scores(const Examples& from, const Model& model, std::int64_t count) {
  std::vector<RelationScores> all;
  for (const Relation& relation : from.relations()) {
    all.push_back({.relation = relation.name, .site = relation.site, .layers = {}});
  }
  const std::vector<RelatedSite> sites = related_sites(from, model);
  for_test_batches(from, model, count, [&](const std::vector<Example>& examples, const Batch& batch) {
    if (sites.empty()) return;
    const Trace trace = attention_of(model, batch, sites);
    for (const RelatedSite& own : sites) add_site(from, examples, batch, own, trace, all);
  });
  return all;
}

BestHead best_head(const RelationScores& scores) {
  BestHead best;
  bool is_first = true;
  for (std::size_t layer = 0; layer < scores.layers.size(); ++layer) {
    for (std::size_t head = 0; head < scores.layers[layer].size(); ++head) {
      const PatternScore& score = scores.layers[layer][head];
      if (!is_first && score.mean_weight() <= best.score.mean_weight()) continue;
      best = {.layer = layer, .head = head, .score = score};
      is_first = false;
    }
  }
  if (is_first) throw InvalidArgument("best_head", "scores", "a layer", "none");
  return best;
}

}  // namespace qkv
