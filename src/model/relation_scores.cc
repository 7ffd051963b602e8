#include "qkv/model/relation_scores.h"

#include <algorithm>

#include "model/test_batches.h"

namespace qkv {
namespace {

constexpr const char* kScorePattern = "score_pattern";

std::size_t index_of(const std::vector<Relation>& relations, std::string_view name) {
  const auto found = std::ranges::find(relations, name, &Relation::name);
  if (found != relations.end()) return static_cast<std::size_t>(found - relations.begin());
  std::string names;
  for (const Relation& relation : relations) names += (names.empty() ? "" : ", ") + relation.name;
  throw InvalidArgument(kScorePattern, "relation", "one of the task's: " + names, "\"" + std::string(name) + "\"");
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

void add_row(PatternScore& score, const PatternRow& row, const std::vector<double>& weights) {
  for (const std::int64_t key : row.keys) score.weight_sum += weights[static_cast<std::size_t>(key)];
  const auto top = std::ranges::max_element(weights) - weights.begin();
  score.hits += std::ranges::binary_search(row.keys, top) ? 1 : 0;
  ++score.rows;
}

void add_scores(const Examples& from, const Example& example, const TensorView& weights, RelationScores& scores,
                std::size_t layer) {
  const std::vector<PatternScore> more = score_pattern(from, example, scores.relation, weights);
  std::vector<PatternScore>& heads = scores.layers[layer];
  heads.resize(more.size());
  for (std::size_t h = 0; h < more.size(); ++h) heads[h] += more[h];
}

// All relations of one site, whose weights are computed once.
void add_site(const Examples& from, const Model& model, std::span<const Example> examples, const Batch& batch,
              AttentionSite site, std::vector<RelationScores>& all) {
  if (std::ranges::none_of(all, [&](const RelationScores& scores) { return scores.site == site; })) return;
  const std::vector<Tensor> layers = model.weights(input_of(batch), site);
  for (RelationScores& scores : all) {
    if (scores.site != site) continue;
    scores.layers.resize(layers.size());
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (std::size_t b = 0; b < examples.size(); ++b) {
        const TensorView weights = weights_of_example(batch, static_cast<std::int64_t>(b), site, layers[layer]);
        add_scores(from, examples[b], weights, scores, layer);
      }
    }
  }
}

}  // namespace

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
      add_row(scores[head], pattern, row);
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
  for_test_batches(from, model, count, [&](const std::vector<Example>& examples, const Batch& batch) {
    for (const AttentionSite site : {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross}) {
      add_site(from, model, examples, batch, site, all);
    }
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
