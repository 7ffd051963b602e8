#include <algorithm>

#include "qkv/train/task.h"

namespace qkv {
namespace {

constexpr const char* kScorePattern = "score_pattern";

std::size_t index_of(const std::vector<TaskRelation>& relations, std::string_view name) {
  const auto found = std::ranges::find(relations, name, &TaskRelation::name);
  if (found != relations.end()) return static_cast<std::size_t>(found - relations.begin());
  std::string names;
  for (const TaskRelation& relation : relations) names += (names.empty() ? "" : ", ") + relation.name;
  throw InvalidArgument(kScorePattern, "relation", "one of the task's: " + names, "\"" + std::string(name) + "\"");
}

Shape expected_shape(const Task& task, const TaskExample& example, AttentionSite site) {
  const auto tokens = static_cast<std::int64_t>(example.tokens.size());
  const auto source = static_cast<std::int64_t>(example.source.size());
  if (site == AttentionSite::tokens) return {tokens, tokens};
  if (site == AttentionSite::source) return {source, source};
  return {tokens, task.info().kind == TaskKind::image_text ? task.lengths().patches() : source};
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

std::vector<PatternScore> score_pattern(const Task& task, const TaskExample& example, std::string_view relation,
                                        const TensorView& weights) {
  const std::size_t index = index_of(task.relations(), relation);
  const Shape expected = expected_shape(task, example, task.relations()[index].site);
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

}  // namespace qkv
