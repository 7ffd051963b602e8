#include "qkv/api/task.h"
#include "qkv/train/settings.h"

namespace qkv {
namespace {

TaskSummary summary_of(const TaskInfo& info) {
  return {.name = info.name,
          .description = info.description,
          .kind = std::string(name_of(info.kind)),
          .model = std::string(recipe_for(info.name).model),
          .accuracy = info.accuracy,
          .length = info.length};
}

ShownExample example_of_task(const Task& task, const Example& example, std::int64_t n) {
  ShownExample shown;
  shown.n = n;
  for (const std::int32_t token : example.source) shown.source.push_back(task.source_vocabulary().piece(token));
  for (const std::int32_t token : example.tokens) shown.tokens.push_back(task.vocabulary().piece(token));
  for (const auto& label : example.labels) {
    shown.labels.push_back(label ? std::optional(task.vocabulary().piece(*label)) : std::nullopt);
  }
  shown.scored = example.scored;
  for (std::size_t r = 0; r < example.patterns.size(); ++r) {
    shown.patterns.emplace_back(task.relations()[r].name, example.patterns[r]);
  }
  shown.syntax = example.syntax;
  return shown;
}

}  // namespace

TaskList task_list() {
  TaskList list;
  for (const TaskInfo& info : tasks()) list.tasks.push_back(summary_of(info));
  return list;
}

TaskFigures task_figures(const Task& task, const ExampleRange& range, std::uint64_t seed) {
  TaskFigures figures;
  static_cast<TaskSummary&>(figures) = summary_of(task.info());
  const TextLengths& lengths = task.lengths();
  figures.lengths = {.tokens = lengths.tokens, .source = lengths.source, .patches = lengths.patches()};
  figures.vocabulary = {.tokens = task.vocabulary().size(), .source = task.source_vocabulary().size()};
  for (const Relation& relation : task.relations()) {
    figures.relations.push_back({relation.name, std::string(name_of(relation.site)), relation.description});
  }
  figures.split = range.split == Split::test ? "test" : "train";
  figures.seed = seed;
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    figures.examples.push_back(example_of_task(task, task.example(range.split, n), n));
  }
  return figures;
}

}  // namespace qkv
