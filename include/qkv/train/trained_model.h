// A model and the task that it learnt, out of one file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "qkv/model/box.h"
#include "qkv/model/text_model.h"
#include "qkv/train/task.h"

namespace qkv {

/// What a model's file says of its task under "run.": "task", and of a task that is no built-in one its "kind" and
/// sizes.
void describe_task(const Task& task, std::map<std::string, std::string>& run);

/// A text model with its task above it, if it learnt a built-in one.
class TrainedModel : public TextModel {
 public:
  /// What `qkv train` wrote as model.safetensors or as a checkpoint; or any model that Model::open() opens, which then
  /// has no task. Throws Error as Model::open() does, and for a model of no task that has no tokenizer.
  [[nodiscard]] static TrainedModel read(const std::string& path,
                                         QuantisedWeights quantised = QuantisedWeights::as_f32);

  /// The same, its model in another dtype.
  [[nodiscard]] TrainedModel to(DType dtype) const;

  /// What examples() come from. Throws Error as examples().
  [[nodiscard]] const Task& task() const;

 private:
  TrainedModel(TextModel model, std::shared_ptr<const Task> task);

  std::shared_ptr<const Task> task_;
};

}  // namespace qkv
