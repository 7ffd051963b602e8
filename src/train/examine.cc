#include "qkv/train/examine.h"

#include <algorithm>
#include <array>

#include "model/pair_embeddings.h"
#include "model/test_batches.h"
#include "qkv/autograd/softmax.h"

namespace qkv {
namespace {

TaskAccuracy right_answers(const TensorView& scores, const Batch& batch) {
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
std::int64_t targets_of(const Model& model, const Batch& batch) {
  if (model.traits().is_pair) return batch.size();
  const auto targets = batch.targets.values<std::int64_t>();
  return std::ranges::count_if(targets, [](auto target) { return target != kNothingAsked; });
}

TaskAccuracy accuracy_of_tokens(const Model& model, const Batch& batch) {
  const Variable scores = model.forward(input_of(batch));
  TaskAccuracy total = right_answers(scores.value(), batch);
  total.loss_places = static_cast<double>(targets_of(model, batch));
  total.loss_sum = cross_entropy(scores, batch.targets).item() * total.loss_places;
  return total;
}

// Which caption of the batch lies nearest to each image; another image's is right if it reads the same.
TaskAccuracy accuracy_of_pairs(const TwoTower& towers, const Batch& batch) {
  const PairEmbeddings embeddings(towers, batch);
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

TaskAccuracy batch_accuracy(const Model& model, const Batch& batch) {
  const NoGradient constant;
  const TwoTower* towers = model.parts().towers;
  return towers == nullptr ? accuracy_of_tokens(model, batch) : accuracy_of_pairs(*towers, batch);
}

BatchLoss task_loss(const Task& task, const Model& model, std::int64_t first, std::int64_t count,
                    const ModelCall& call) {
  const Batch batch = batch_of(task, examples_of(task, Split::train, first, count), layout_for(model.kind()));
  return {.loss = batch_loss(model, batch, call), .tokens = batch.tokens, .targets = targets_of(model, batch)};
}

TaskAccuracy task_accuracy(const Task& task, const Model& model, std::int64_t count) {
  TaskAccuracy total;
  for_test_batches(task, model, count,
                   [&](const std::vector<Example>&, const Batch& batch) { total += batch_accuracy(model, batch); });
  return total;
}

}  // namespace qkv
