// The built-in tasks and their examples, as `qkv task` prints them as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/train/task.h"

namespace qkv {

/// Examples of a task; without one, all tasks.
struct TaskRequest {
  std::string task;
  std::int64_t examples = 1;
  std::int64_t from = 0;
  std::string split = "test";
  std::uint64_t seed = 0;
  std::optional<std::int64_t> length;
};

[[nodiscard]] const Fields<TaskRequest>& task_fields();

/// The request's task, which it must name. Throws InvalidArgument naming `task` or `length`.
[[nodiscard]] std::unique_ptr<const Task> task_of(const TaskRequest& request);

struct TaskSummary {
  std::string name, description, kind, model;
  double accuracy = 0;
  std::optional<TaskInfo::Length> length;
};

/// What `qkv task --json` prints without a task.
struct TaskList {
  std::vector<TaskSummary> tasks;
};

struct TaskExtents {
  std::int64_t tokens = 0, source = 0, patches = 0;
};

struct TaskVocabularies {
  std::int64_t tokens = 0, source = 0;
};

struct TaskPattern {
  std::string name, site, description;
};

/// The image is left out: its patterns name patches.
struct ShownExample {
  std::int64_t n = 0;
  std::vector<std::string> source, tokens;
  std::vector<std::optional<std::string>> labels;
  std::vector<bool> scored;
  Named<std::vector<PatternRow>> patterns;
  std::optional<Syntax> syntax;
};

/// What `qkv task TASK --json` prints.
struct TaskFigures : TaskSummary {
  TaskExtents lengths;
  TaskVocabularies vocabulary;
  std::vector<TaskPattern> relations;
  std::string split;
  std::uint64_t seed = 0;
  std::vector<ShownExample> examples;
};

/// Which examples are told.
struct ExampleRange {
  Split split = Split::test;
  std::int64_t first = 0;
  std::int64_t count = 1;
};

[[nodiscard]] ExampleRange examples_of(const TaskRequest& request);

/// TaskFigures, or TaskList without a task.
[[nodiscard]] AnyReply answer(const TaskRequest& request);

/// The same for people: what the task asks, then its examples with their patterns.
[[nodiscard]] std::string as_text(const TaskRequest& request);

[[nodiscard]] TaskList task_list();
/// `seed` is that of the task. Throws InvalidArgument as Task::example().
[[nodiscard]] TaskFigures task_figures(const Task& task, const ExampleRange& range, std::uint64_t seed);

[[nodiscard]] Members<TaskInfo::Length> describe(const TaskInfo::Length* length);
[[nodiscard]] Members<PatternRow> describe(const PatternRow* row);
[[nodiscard]] Members<Dependency> describe(const Dependency* dependency);
[[nodiscard]] Members<Coreference> describe(const Coreference* link);
[[nodiscard]] Members<Syntax> describe(const Syntax* syntax);
[[nodiscard]] Members<TaskSummary> describe(const TaskSummary* summary);
[[nodiscard]] Members<TaskList> describe(const TaskList* list);
[[nodiscard]] Members<TaskExtents> describe(const TaskExtents* extents);
[[nodiscard]] Members<TaskVocabularies> describe(const TaskVocabularies* vocabularies);
[[nodiscard]] Members<TaskPattern> describe(const TaskPattern* pattern);
[[nodiscard]] Members<ShownExample> describe(const ShownExample* example);
[[nodiscard]] Members<TaskFigures> describe(const TaskFigures* figures);

}  // namespace qkv
