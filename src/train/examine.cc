#include "qkv/train/examine.h"

#include <algorithm>

namespace qkv {
namespace {

constexpr std::int64_t kTogether = 64;  // examples of one examination

std::vector<TaskExample> examples_of(const Task& task, Split split, std::int64_t first, std::int64_t count) {
  std::vector<TaskExample> examples;
  for (std::int64_t n = first; n < first + count; ++n) examples.push_back(task.example(split, n));
  return examples;
}

// body(examples, batch) for the first of the test split, at most `wanted`, some at a time.
template <class Body>
void for_test_batches(const Task& task, const TaskModel& model, std::int64_t wanted, const Body& body) {
  if (wanted < 1) throw InvalidArgument("examine", "count", "1 or more", std::to_string(wanted));
  const std::int64_t count = held_out_examples(task, wanted);
  for (std::int64_t n = 0; n < count; n += kTogether) {
    const std::vector<TaskExample> examples = examples_of(task, Split::test, n, std::min(kTogether, count - n));
    body(examples, batch_of(task, examples, model.layout()));
  }
}

void add_scores(const Task& task, const TaskExample& example, const TensorView& weights, RelationScores& scores,
                std::size_t layer) {
  const std::vector<PatternScore> more = score_pattern(task, example, scores.relation, weights);
  std::vector<PatternScore>& heads = scores.layers[layer];
  heads.resize(more.size());
  for (std::size_t h = 0; h < more.size(); ++h) heads[h] += more[h];
}

// All relations of one site, whose weights are computed once.
void add_site(const Task& task, const TaskModel& model, std::span<const TaskExample> examples, const TaskBatch& batch,
              AttentionSite site, std::vector<RelationScores>& all) {
  if (std::ranges::none_of(all, [&](const RelationScores& scores) { return scores.site == site; })) return;
  const std::vector<Tensor> layers = model.weights(batch, site);
  for (RelationScores& scores : all) {
    if (scores.site != site) continue;
    scores.layers.resize(layers.size());
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (std::size_t b = 0; b < examples.size(); ++b) {
        const TensorView weights = weights_of_example(batch, static_cast<std::int64_t>(b), site, layers[layer]);
        add_scores(task, examples[b], weights, scores, layer);
      }
    }
  }
}

}  // namespace

BatchLoss task_loss(const Task& task, const TaskModel& model, std::int64_t first, std::int64_t count,
                    const TaskModelCall& call) {
  const TaskBatch batch = batch_of(task, examples_of(task, Split::train, first, count), model.layout());
  return {.loss = model.loss(batch, call), .tokens = batch.tokens};
}

std::int64_t held_out_examples(const Task& task, std::int64_t count) noexcept {
  return std::min(count, task.count(Split::test).value_or(count));
}

TaskAccuracy task_accuracy(const Task& task, const TaskModel& model, std::int64_t count) {
  TaskAccuracy total;
  for_test_batches(task, model, count,
                   [&](const std::vector<TaskExample>&, const TaskBatch& batch) { total += model.examine(batch); });
  return total;
}

std::vector<RelationScores> task_patterns(const Task& task, const TaskModel& model, std::int64_t count) {
  std::vector<RelationScores> all;
  for (const TaskRelation& relation : task.relations()) {
    all.push_back({.relation = relation.name, .site = relation.site, .layers = {}});
  }
  for_test_batches(task, model, count, [&](const std::vector<TaskExample>& examples, const TaskBatch& batch) {
    for (const AttentionSite site : {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross}) {
      add_site(task, model, examples, batch, site, all);
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
