// qkv task: the built-in tasks, and examples of one with the patterns that a solved model must show.
#include "qkv/api/task.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <string>

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "qkv/train/settings.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct TaskArguments : TaskRequest {
  bool json = false;
};

// A line for `text` behind `begin`, and as many more as 80 columns make necessary, indented to where it began.
std::string hanging(const std::string& begin, const std::string& text) {
  constexpr std::size_t kColumns = 80;
  std::string lines;
  std::string line = begin;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_first = line.size() == begin.size();
    if (!is_first && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line = std::string(begin.size(), ' ') + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
  }
  return lines + line + "\n";
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

void show_task(const TaskArguments& arguments) {
  const auto task = task_of(arguments);
  const ExampleRange range = examples_of(arguments);
  if (arguments.json) return print(reply_as_json(task_figures(*task, range, arguments.seed)));
  print_text(about(*task, arguments.length));
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    print_text(fmt::format("\n{} example {}\n{}", arguments.split, n, show(*task, task->example(range.split, n))));
  }
}

void list_tasks() {
  print_text(fmt::format("{:<13}{:<17}{:<6}{}\n", "task", "model", "goal", "what a model learns"));
  for (const TaskInfo& info : tasks()) {
    print_text(hanging(fmt::format("{:<13}{:<17}{:<6}", info.name, recipe_for(info.name).model,
                                   fmt::format("{:g} %", 100 * info.accuracy)),
                       info.description));
  }
}

Fields<TaskArguments> fields_of_task() {
  Fields<TaskArguments> fields;
  fields.add(task_fields());
  fields.add(&TaskArguments::json, json_field());
  return fields;
}

void run_task(TaskArguments& arguments, const Given& /*all*/) {
  if (!arguments.task.empty()) return show_task(arguments);
  if (arguments.json) return print(reply_as_json(task_list()));
  list_tasks();
}

}  // namespace

void add_task(Commands& commands) {
  commands.add({.name = "task",
                .summary = "Built-in tasks, with the attention that a solved model must show",
                .group = "Train",
                .footer = "Example:\n  qkv task induction --examples 3",
                .places = {"task"}},
               fields_of_task(), run_task);
}

}  // namespace qkv::cli
