#include "qkv/train/trained_model.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/number_text.h"
#include "files/reading.h"
#include "model/words.h"
#include "qkv/safetensors.h"

namespace qkv {
namespace {

constexpr std::array kTaskKinds = {TaskKind::decoder, TaskKind::encoder, TaskKind::encoder_decoder,
                                   TaskKind::image_text};

bool is_built_in(const std::string& name) { return std::ranges::find(tasks(), name, &TaskInfo::name) != tasks().end(); }

template <class Number>
std::optional<Number> number_in(const Words& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) return std::nullopt;
  if (const auto value = core::number_from<Number>(found->second)) return value;
  throw Error("the model's file says of " + word + ": \"" + found->second + "\", which is no number");
}

[[noreturn]] void fail_word(const std::string& word, const std::string& text) {
  throw Error("the model's file says of " + word + ": \"" + text + "\", which has no meaning");
}

const std::string& text_of(const Words& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) throw Error("the model's file does not say its " + word);
  return found->second;
}

std::int64_t number_of(const Words& words, const std::string& word) {
  const std::string& text = text_of(words, word);
  const auto value = core::number_from<std::int64_t>(text);
  if (!value || *value < 0) fail_word(word, text);
  return *value;
}

TaskKind kind_in(const Words& words) {
  const std::string& text = text_of(words, "kind");
  for (const TaskKind kind : kTaskKinds) {
    if (name_of(kind) == text) return kind;
  }
  fail_word("kind", text);
}

// The built-in task that the words name; null for another one.
std::shared_ptr<const Task> task_of(const Words& words) {
  const std::string& name = text_of(words, "task");
  if (!is_built_in(name)) return nullptr;
  return make_task(name, {.seed = number_in<std::uint64_t>(words, "seed").value_or(0),
                          .length = number_in<std::int64_t>(words, "length")});
}

// What the words say of a task whose examples are not here.
Learnt learnt_elsewhere(const Words& words) {
  return {.task = text_of(words, "task"),
          .lengths = {.tokens = number_of(words, "tokens"),
                      .source = words.contains("source") ? number_of(words, "source") : 0,
                      .image_side = number_of(words, "image_side"),
                      .patch_side = number_of(words, "patch_side")},
          .labels_tokens = kind_in(words) == TaskKind::encoder};
}

}  // namespace

void describe_task(const Task& task, Words& words) {
  words["task"] = task.info().name;
  if (is_built_in(task.info().name)) return;
  words["kind"] = name_of(task.info().kind);
  words["tokens"] = std::to_string(task.lengths().tokens);
  if (task.lengths().source > 0) words["source"] = std::to_string(task.lengths().source);
  words["image_side"] = std::to_string(task.lengths().image_side);
  words["patch_side"] = std::to_string(task.lengths().patch_side);
}

TrainedModel::TrainedModel(TextModel model, std::shared_ptr<const Task> task)
    : TextModel(std::move(model)), task_(std::move(task)) {}

TrainedModel TrainedModel::read(const std::string& path, QuantisedWeights quantised) {
  files::require_file_or_folder(path);
  Model model = Model::open(path, quantised);
  const Words run = model.file() == nullptr ? Words() : words_of("run", model.file()->metadata());
  if (!run.contains("task")) return {TextModel(std::move(model), path), nullptr};
  try {
    std::shared_ptr<const Task> task = task_of(run);
    Learnt learnt = task == nullptr ? learnt_elsewhere(run) : Learnt{.task = task->info().name, .examples = task};
    return {TextModel(std::move(model), path, std::move(learnt)), std::move(task)};
  } catch (const InvalidArgument& damaged) {
    throw FileError(path, damaged.what());
  }
}

TrainedModel TrainedModel::to(DType dtype) const { return {TextModel::to(dtype), task_}; }

const Task& TrainedModel::task() const {
  static_cast<void>(examples());
  return *task_;
}

}  // namespace qkv
