// Tasks and their examples for people.
#include <fmt/format.h>

#include "qkv/api/task.h"
#include "qkv/picture/terminal.h"
#include "qkv/train/settings.h"

namespace qkv {
namespace {

// A line for `text` behind `begin`, and as many more as 80 columns make necessary, indented to where it began.
std::string hanging(const std::string& begin, const std::string& text) {
  constexpr int kColumns = 80;
  std::string lines;
  for (const std::string& line : wrapped(text, kColumns - static_cast<int>(begin.size()))) {
    lines += (lines.empty() ? begin : std::string(begin.size(), ' ')) + line + "\n";
  }
  return lines;
}

std::string length_text(const TaskInfo& info, std::optional<std::int64_t> chosen) {
  if (!info.length) return {};
  const std::int64_t usual = info.length->usual;
  const std::int64_t length = chosen.value_or(usual);
  return fmt::format("length    {} {}; --length takes {} to {}{}\n", length, info.length->unit, info.length->least,
                     info.length->most, length == usual ? "" : fmt::format(", {} is usual", usual));
}

std::string sizes_text(const Task& task) {
  const TextLengths& lengths = task.lengths();
  std::string text = fmt::format("tokens    at most {}, of {}\n", lengths.tokens, task.vocabulary().size());
  if (lengths.source > 0) {
    text += fmt::format("source    at most {}, of {}\n", lengths.source, task.source_vocabulary().size());
  }
  if (lengths.image_side > 0) {
    text += fmt::format("image     {0} x {0} pixels, {1} patches of {2} x {2}\n", lengths.image_side, lengths.patches(),
                        lengths.patch_side);
  }
  return text;
}

std::string about(const Task& task, std::optional<std::int64_t> length) {
  const TaskInfo& info = task.info();
  std::string text = hanging(info.name + ": ", info.description) + "\n";
  text += fmt::format("model     {}\n", recipe_for(info.name).model);
  text += fmt::format("goal      {:g} % of the scored answers as expected\n", 100 * info.accuracy);
  text += length_text(info, length) + sizes_text(task);
  for (const Relation& relation : task.relations()) {
    text +=
        hanging("pattern   ", fmt::format("{} ({}): {}", relation.name, name_of(relation.site), relation.description));
  }
  return text;
}

std::string list_of_tasks() {
  std::string text = fmt::format("{:<13}{:<17}{:<6}{}\n", "task", "model", "goal", "what a model learns");
  for (const TaskInfo& info : tasks()) {
    text += hanging(fmt::format("{:<13}{:<17}{:<6}", info.name, recipe_for(info.name).model,
                                fmt::format("{:g} %", 100 * info.accuracy)),
                    info.description);
  }
  return text;
}

}  // namespace

std::string as_text(const TaskRequest& request) {
  if (request.task.empty()) return list_of_tasks();
  const auto task = task_of(request);
  const ExampleRange range = examples_of(request);
  std::string text = about(*task, request.length);
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    text += fmt::format("\n{} example {}\n{}", request.split, n, show(*task, task->example(range.split, n)));
  }
  return text;
}

}  // namespace qkv
