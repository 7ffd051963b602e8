#include "qkv/train/trained_model.h"

#include "files/place.h"
#include "files/reading.h"
#include "model/families/gguf.h"
#include "model/words.h"
#include "qkv/safetensors.h"
#include "train/task_words.h"

namespace qkv {

TrainedModel::TrainedModel(TextModel model, std::shared_ptr<const Task> task)
    : TextModel(std::move(model)), task_(std::move(task)) {}

TrainedModel TrainedModel::read(const std::string& path) {
  files::require_file_or_folder(path);
  Model model = Model::open(path);
  const bool is_of_others = files::is_folder(path) || families::is_gguf(path);
  const Words run = is_of_others ? Words() : words_of("run", Safetensors::read(path).metadata());
  if (!run.contains("task")) return {TextModel(std::move(model), path), nullptr};
  try {
    std::shared_ptr<const Task> task = training::task_of(run);
    Learnt learnt =
        task == nullptr ? training::learnt_elsewhere(run) : Learnt{.task = task->info().name, .examples = task};
    return {TextModel(std::move(model), path, std::move(learnt)), std::move(task)};
  } catch (const InvalidArgument& damaged) {
    throw Error(path + ": " + damaged.what());
  }
}

const Task& TrainedModel::task() const {
  static_cast<void>(examples());
  return *task_;
}

}  // namespace qkv
