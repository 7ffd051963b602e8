#include "train/task_words.h"

#include <algorithm>
#include <array>
#include <optional>

#include "qkv/number_text.h"
#include "qkv/train/trained_model.h"

namespace qkv {
namespace {

constexpr std::array kTaskKinds = {TaskKind::decoder, TaskKind::encoder, TaskKind::encoder_decoder,
                                   TaskKind::image_text};

bool is_built_in(const std::string& name) { return std::ranges::find(tasks(), name, &TaskInfo::name) != tasks().end(); }

template <class Number>
std::optional<Number> number_in(const Words& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) return std::nullopt;
  if (const auto value = number_from<Number>(found->second)) return value;
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
  const auto value = number_from<std::int64_t>(text);
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

std::shared_ptr<const Task> training::task_of(const Words& words) {
  const std::string& name = text_of(words, "task");
  if (!is_built_in(name)) return nullptr;
  return make_task(name, {.seed = number_in<std::uint64_t>(words, "seed").value_or(0),
                          .length = number_in<std::int64_t>(words, "length")});
}

Learnt training::learnt_elsewhere(const Words& words) {
  return {.task = text_of(words, "task"),
          .lengths = {.tokens = number_of(words, "tokens"),
                      .source = words.contains("source") ? number_of(words, "source") : 0,
                      .image_side = number_of(words, "image_side"),
                      .patch_side = number_of(words, "patch_side")},
          .labels_tokens = kind_in(words) == TaskKind::encoder};
}

}  // namespace qkv
