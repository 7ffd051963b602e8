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

[[nodiscard]] const Members<TaskInfo::Length>& members_of(const TaskInfo::Length* length);
[[nodiscard]] const Members<PatternRow>& members_of(const PatternRow* row);
[[nodiscard]] const Members<Dependency>& members_of(const Dependency* dependency);
[[nodiscard]] const Members<Coreference>& members_of(const Coreference* link);
[[nodiscard]] const Members<Syntax>& members_of(const Syntax* syntax);
[[nodiscard]] const Members<TaskSummary>& members_of(const TaskSummary* summary);
[[nodiscard]] const Members<TaskList>& members_of(const TaskList* list);
[[nodiscard]] const Members<TaskExtents>& members_of(const TaskExtents* extents);
[[nodiscard]] const Members<TaskVocabularies>& members_of(const TaskVocabularies* vocabularies);
[[nodiscard]] const Members<TaskPattern>& members_of(const TaskPattern* pattern);
[[nodiscard]] const Members<ShownExample>& members_of(const ShownExample* example);
[[nodiscard]] const Members<TaskFigures>& members_of(const TaskFigures* figures);

}  // namespace qkv
