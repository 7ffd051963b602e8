// A task against a model: losses to learn from, accuracy, and what the heads show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/model/model.h"
#include "qkv/train/batch.h"
#include "qkv/train/training.h"

namespace qkv {

struct TaskAccuracy {
  std::int64_t right = 0;
  std::int64_t asked = 0;  // scored places; images for a two-tower model
  double loss_sum = 0;     // over all that is asked, scored or not
  double loss_places = 0;
  [[nodiscard]] double share() const noexcept;
  [[nodiscard]] double loss() const noexcept;
  TaskAccuracy& operator+=(const TaskAccuracy& other) noexcept;
};

/// Of rank 0: the mean over what the batch asks; of two towers their contrastive loss.
[[nodiscard]] Variable batch_loss(const Model& model, const TaskBatch& batch, const ModelCall& call = {});
/// The most likely token at each scored place against its target; of two towers, whether an image's own caption lies
/// nearest to it.
[[nodiscard]] TaskAccuracy batch_accuracy(const Model& model, const TaskBatch& batch);
/// f64 [B]: the cosine of image n and text n of the batch. Throws InvalidArgument for a model without two towers.
[[nodiscard]] Tensor batch_cosines(const Model& model, const TaskBatch& batch);

/// Of examples first to first + count - 1 of the training split.
[[nodiscard]] BatchLoss task_loss(const Task& task, const Model& model, std::int64_t first, std::int64_t count,
                                  const ModelCall& call);

/// How many of the first `count` examples of the test split are different ones: no more than there are.
[[nodiscard]] std::int64_t held_out_examples(const Task& task, std::int64_t count) noexcept;

/// On the first `count` examples of the test split, each once. Throws InvalidArgument naming count.
[[nodiscard]] TaskAccuracy task_accuracy(const Task& task, const Model& model, std::int64_t count);

/// One score for each layer and head.
struct RelationScores {
  std::string relation;
  AttentionSite site = AttentionSite::tokens;
  std::vector<std::vector<PatternScore>> layers;  // none if the model has no such site
};

/// Likewise, for each relation of the task in its order.
[[nodiscard]] std::vector<RelationScores> task_patterns(const Task& task, const Model& model, std::int64_t count);

/// The head with the largest mean weight on the relation.
struct BestHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  PatternScore score = {};
};
/// Throws InvalidArgument if there is no layer.
[[nodiscard]] BestHead best_head(const RelationScores& scores);

}  // namespace qkv
