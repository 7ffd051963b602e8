#include "qkv/train/examine.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "qkv/autograd/softmax.h"

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
void for_test_batches(const Task& task, const Model& model, std::int64_t wanted, const Body& body) {
  if (wanted < 1) throw InvalidArgument("examine", "count", "1 or more", std::to_string(wanted));
  const std::int64_t count = held_out_examples(task, wanted);
  for (std::int64_t n = 0; n < count; n += kTogether) {
    const std::vector<TaskExample> examples = examples_of(task, Split::test, n, std::min(kTogether, count - n));
    body(examples, batch_of(task, examples, layout_for(model.kind())));
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
void add_site(const Task& task, const Model& model, std::span<const TaskExample> examples, const TaskBatch& batch,
              AttentionSite site, std::vector<RelationScores>& all) {
  if (std::ranges::none_of(all, [&](const RelationScores& scores) { return scores.site == site; })) return;
  const std::vector<Tensor> layers = model.weights(input_of(batch), site);
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

TaskAccuracy right_answers(const TensorView& scores, const TaskBatch& batch) {
  const std::int64_t length = batch.ids.dim(1);
  std::vector<double> row(static_cast<std::size_t>(scores.dim(-1)));
  TaskAccuracy total;
  for (std::int64_t place = 0; place < batch.ids.size(); ++place) {
    if (batch.scored.values<std::int64_t>()[static_cast<std::size_t>(place)] == 0) continue;
    const std::array<std::int64_t, 2> at = {place / length, place % length};
    scores.load_row(at, row);
    const std::int64_t best = std::ranges::max_element(row) - row.begin();
    ++total.asked;
    total.right += best == batch.targets.values<std::int64_t>()[static_cast<std::size_t>(place)] ? 1 : 0;
  }
  return total;
}

// What batch_loss() is the mean of: tokens, or the pairs of two towers.
std::int64_t targets_of(const Model& model, const TaskBatch& batch) {
  if (std::holds_alternative<TwoTower>(model.network())) return batch.size();
  const auto targets = batch.targets.values<std::int64_t>();
  return std::ranges::count_if(targets, [](auto target) { return target != kNothingAsked; });
}

TaskAccuracy accuracy_of_tokens(const Model& model, const TaskBatch& batch) {
  const Variable scores = model.forward(input_of(batch));
  TaskAccuracy total = right_answers(scores.value(), batch);
  total.loss_places = static_cast<double>(targets_of(model, batch));
  total.loss_sum = cross_entropy(scores, batch.targets).item() * total.loss_places;
  return total;
}

/// What both towers make of a batch.
struct Embeddings {
  Variable images;
  Variable texts;

  Embeddings(const TwoTower& towers, const TaskBatch& batch)
      : images(towers.embed_images(batch.images)), texts(towers.embed_texts({batch.ids, batch.lengths})) {}

  [[nodiscard]] double cosine(std::int64_t image, std::int64_t text) const {
    const std::vector<double> a = images.value().select(0, image).to_vector();
    const std::vector<double> b = texts.value().select(0, text).to_vector();
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
};

// Which caption of the batch lies nearest to each image; another image's is right if it reads the same.
TaskAccuracy accuracy_of_pairs(const TwoTower& towers, const TaskBatch& batch) {
  const Embeddings embeddings(towers, batch);
  const auto caption = [&](std::int64_t b) { return batch.ids.view().select(0, b).to_vector(); };
  TaskAccuracy total;
  for (std::int64_t image = 0; image < batch.size(); ++image) {
    std::vector<double> cosines;
    for (std::int64_t text = 0; text < batch.size(); ++text) cosines.push_back(embeddings.cosine(image, text));
    const std::int64_t nearest = std::ranges::max_element(cosines) - cosines.begin();
    ++total.asked;
    total.right += caption(nearest) == caption(image) ? 1 : 0;
  }
  total.loss_places = static_cast<double>(batch.size());
  total.loss_sum = towers.loss_of_embeddings(embeddings.images, embeddings.texts).item() * total.loss_places;
  return total;
}

}  // namespace

double TaskAccuracy::share() const noexcept {
  return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
}

double TaskAccuracy::loss() const noexcept { return loss_places == 0 ? 0 : loss_sum / loss_places; }

TaskAccuracy& TaskAccuracy::operator+=(const TaskAccuracy& other) noexcept {
  right += other.right;
  asked += other.asked;
  loss_sum += other.loss_sum;
  loss_places += other.loss_places;
  return *this;
}

Variable batch_loss(const Model& model, const TaskBatch& batch, const ModelCall& call) {
  if (const auto* towers = std::get_if<TwoTower>(&model.network())) {
    return towers->loss(batch.images, {batch.ids, batch.lengths}, call);
  }
  return cross_entropy(model.forward(input_of(batch), call), batch.targets);
}

TaskAccuracy batch_accuracy(const Model& model, const TaskBatch& batch) {
  const NoGradient constant;
  const auto* towers = std::get_if<TwoTower>(&model.network());
  return towers == nullptr ? accuracy_of_tokens(model, batch) : accuracy_of_pairs(*towers, batch);
}

Tensor batch_cosines(const Model& model, const TaskBatch& batch) {
  const NoGradient constant;
  const auto* towers = std::get_if<TwoTower>(&model.network());
  if (towers == nullptr) {
    throw InvalidArgument("batch_cosines", "model", "a two-tower model", name_of(model.kind()));
  }
  const Embeddings embeddings(*towers, batch);
  std::vector<double> cosines;
  for (std::int64_t b = 0; b < batch.size(); ++b) cosines.push_back(embeddings.cosine(b, b));
  return {cosines, {batch.size()}};
}

BatchLoss task_loss(const Task& task, const Model& model, std::int64_t first, std::int64_t count,
                    const ModelCall& call) {
  const TaskBatch batch = batch_of(task, examples_of(task, Split::train, first, count), layout_for(model.kind()));
  return {.loss = batch_loss(model, batch, call), .tokens = batch.tokens, .targets = targets_of(model, batch)};
}

std::int64_t held_out_examples(const Task& task, std::int64_t count) noexcept {
  return std::min(count, task.count(Split::test).value_or(count));
}

TaskAccuracy task_accuracy(const Task& task, const Model& model, std::int64_t count) {
  TaskAccuracy total;
  for_test_batches(task, model, count, [&](const std::vector<TaskExample>&, const TaskBatch& batch) {
    total += batch_accuracy(model, batch);
  });
  return total;
}

std::vector<RelationScores> task_patterns(const Task& task, const Model& model, std::int64_t count) {
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
