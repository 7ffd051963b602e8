// A task against a model: losses to learn from, accuracy, and what the heads show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/train/task_model.h"
#include "qkv/train/training.h"

namespace qkv {

/// Of examples first to first + count - 1 of the training split.
[[nodiscard]] BatchLoss task_loss(const Task& task, const TaskModel& model, std::int64_t first, std::int64_t count,
                                  const TaskModelCall& call);

/// How many of the first `count` examples of the test split are different ones: no more than there are.
[[nodiscard]] std::int64_t held_out_examples(const Task& task, std::int64_t count) noexcept;

/// On the first `count` examples of the test split, each once. Throws InvalidArgument naming count.
[[nodiscard]] TaskAccuracy task_accuracy(const Task& task, const TaskModel& model, std::int64_t count);

/// One score for each layer and head.
struct RelationScores {
  std::string relation;
  AttentionSite site = AttentionSite::tokens;
  std::vector<std::vector<PatternScore>> layers;  // none where the model has no such site
};

/// Likewise, for each relation of the task in its order.
[[nodiscard]] std::vector<RelationScores> task_patterns(const Task& task, const TaskModel& model, std::int64_t count);

/// The head with the largest mean weight on the relation.
struct BestHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  PatternScore score = {};
};
/// Throws InvalidArgument where there is no layer.
[[nodiscard]] BestHead best_head(const RelationScores& scores);

}  // namespace qkv
