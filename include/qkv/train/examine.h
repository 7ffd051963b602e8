// A task against a model: losses to learn from, and accuracy.
#pragma once

#include <cstdint>

#include "qkv/model/batch.h"
#include "qkv/train/task.h"
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

/// The most likely token at each scored place against its target; of two towers, whether an image's own caption lies
/// nearest to it.
[[nodiscard]] TaskAccuracy batch_accuracy(const Model& model, const Batch& batch);
/// Of examples first to first + count - 1 of the training split.
[[nodiscard]] BatchLoss task_loss(const Task& task, const Model& model, std::int64_t first, std::int64_t count,
                                  const ModelCall& call);

/// On the first `count` examples of the test split, each once. Throws InvalidArgument naming count.
[[nodiscard]] TaskAccuracy task_accuracy(const Task& task, const Model& model, std::int64_t count);

}  // namespace qkv
