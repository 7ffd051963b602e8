#include "qkv/train/task_json.h"

#include <nlohmann/json.hpp>

#include "qkv/train/settings.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

Json rows_json(const std::vector<PatternRow>& rows) {
  Json json = Json::array();
  for (const PatternRow& row : rows) json.push_back({{"query", row.query}, {"keys", row.keys}});
  return json;
}

Json syntax_json(const Syntax& syntax) {
  Json json{{"sentence", syntax.sentence}, {"dependencies", Json::array()}, {"coreferences", Json::array()}};
  for (const Dependency& dependency : syntax.dependencies) {
    json["dependencies"].push_back(
        {{"head", dependency.head ? Json(*dependency.head) : Json()}, {"label", dependency.label}});
  }
  for (const Coreference& link : syntax.coreferences) {
    json["coreferences"].push_back({{"mention", link.mention}, {"antecedent", link.antecedent}});
  }
  return json;
}

// The image is left out: its patterns name patches.
Json example_json(const Task& task, const TaskExample& example, std::int64_t n) {
  Json json{{"n", n}, {"source", Json::array()}, {"tokens", Json::array()}, {"labels", Json::array()}};
  for (const std::int32_t token : example.source) json["source"].push_back(task.source_vocabulary().piece(token));
  for (const std::int32_t token : example.tokens) json["tokens"].push_back(task.vocabulary().piece(token));
  for (const auto& label : example.labels) {
    json["labels"].push_back(label ? Json(task.vocabulary().piece(*label)) : Json());
  }
  json["scored"] = example.scored;
  for (std::size_t r = 0; r < example.patterns.size(); ++r) {
    json["patterns"][task.relations()[r].name] = rows_json(example.patterns[r]);
  }
  if (example.syntax) json["syntax"] = syntax_json(*example.syntax);
  return json;
}

Json info_json(const TaskInfo& info) {
  Json json{{"name", info.name},
            {"description", info.description},
            {"kind", name_of(info.kind)},
            {"model", recipe_for(info.name).model},
            {"accuracy", info.accuracy}};
  if (info.length) {
    json["length"] = {{"unit", info.length->unit},
                      {"usual", info.length->usual},
                      {"least", info.length->least},
                      {"most", info.length->most}};
  }
  return json;
}

Json about_json(const Task& task) {
  Json json = info_json(task.info());
  const TaskLengths& lengths = task.lengths();
  json["lengths"] = {{"tokens", lengths.tokens}, {"source", lengths.source}, {"patches", lengths.patches()}};
  json["vocabulary"] = {{"tokens", task.vocabulary().size()}, {"source", task.source_vocabulary().size()}};
  for (const TaskRelation& relation : task.relations()) {
    json["relations"].push_back(
        {{"name", relation.name}, {"site", name_of(relation.site)}, {"description", relation.description}});
  }
  return json;
}

}  // namespace

std::string tasks_json() {
  Json json{{"tasks", Json::array()}};
  for (const TaskInfo& info : tasks()) json["tasks"].push_back(info_json(info));
  return json.dump(2) + "\n";
}

std::string task_json(const Task& task, const ExampleRange& range, std::uint64_t seed) {
  Json json = about_json(task);
  json["split"] = range.split == Split::test ? "test" : "train";
  json["seed"] = seed;
  json["examples"] = Json::array();
  for (std::int64_t n = range.first; n < range.first + range.count; ++n) {
    json["examples"].push_back(example_json(task, task.example(range.split, n), n));
  }
  return json.dump(2) + "\n";
}

}  // namespace qkv
