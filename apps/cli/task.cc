// qkv task: the built-in tasks, and examples of one with the patterns that a solved model must show.
#include "qkv/train/task.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "qkv/train/settings.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TaskArguments {
  std::string name;
  std::int64_t examples = 1;
  std::int64_t from = 0;
  std::string split = "test";
  std::string seed = "0";
  std::optional<std::int64_t> length;
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

std::string length_text(const TaskInfo& info) {
  if (!info.length) return {};
  return fmt::format("length    {} {}; --length takes {} to {}\n", info.length->usual, info.length->unit,
                     info.length->least, info.length->most);
}

std::string sizes_text(const Task& task) {
  const TaskLengths& lengths = task.lengths();
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

std::string about(const Task& task) {
  const TaskInfo& info = task.info();
  std::string text = hanging(info.name + ": ", info.description) + "\n";
  text += fmt::format("model     {}\n", recipe_for(info.name).model);
  text += fmt::format("goal      {:g} % of the scored answers as expected\n", 100 * info.accuracy);
  text += length_text(info) + sizes_text(task);
  for (const TaskRelation& relation : task.relations()) {
    text +=
        hanging("pattern   ", fmt::format("{} ({}): {}", relation.name, name_of(relation.site), relation.description));
  }
  return text;
}

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

Json task_json(const Task& task) {
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

void show_task(const TaskArguments& arguments) {
  const auto task = of_option("TASK", [&] {
    static_cast<void>(make_task(arguments.name));
    return of_option("--length", [&] {
      return make_task(arguments.name, {.seed = seed_of(arguments.seed), .length = arguments.length});
    });
  });
  const Split split = arguments.split == "test" ? Split::test : Split::train;
  Json json = task_json(*task);
  json["split"] = arguments.split;
  json["seed"] = seed_of(arguments.seed);
  json["examples"] = Json::array();
  if (!arguments.json) print(about(*task));
  for (std::int64_t n = arguments.from; n < arguments.from + arguments.examples; ++n) {
    const TaskExample example = task->example(split, n);
    if (arguments.json) {
      json["examples"].push_back(example_json(*task, example, n));
    } else {
      print(fmt::format("\n{} example {}\n{}", arguments.split, n, show(*task, example)));
    }
  }
  if (arguments.json) print(json.dump(2) + "\n");
}

void list_tasks(bool as_json) {
  Json json{{"tasks", Json::array()}};
  std::string text = fmt::format("{:<13}{:<17}{:<6}{}\n", "task", "model", "goal", "what a model learns");
  for (const TaskInfo& info : tasks()) {
    json["tasks"].push_back(info_json(info));
    text += hanging(fmt::format("{:<13}{:<17}{:<6}", info.name, recipe_for(info.name).model,
                                fmt::format("{:g} %", 100 * info.accuracy)),
                    info.description);
  }
  print(as_json ? json.dump(2) + "\n" : text);
}

void add_options(CLI::App& command, TaskArguments& arguments) {
  constexpr std::int64_t kMostExamples = std::int64_t{1} << 20;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  command.add_option("TASK", arguments.name, "The task; without one, all are listed");
  command.add_option("--examples", arguments.examples, "How many to show")
      ->type_name("N")
      ->check(between(0, kMostExamples))
      ->capture_default_str();
  command.add_option("--from", arguments.from, "The number of the first one")
      ->type_name("N")
      ->check(between(0, kMost))
      ->capture_default_str();
  command.add_option("--split", arguments.split, "train or test")
      ->type_name("SPLIT")
      ->check(one_of({"train", "test"}))
      ->capture_default_str();
  add_seed_option(command, arguments.seed, "Another seed, other examples")->capture_default_str();
  command.add_option("--length", arguments.length, "How long examples get, where the task says so")->type_name("N");
  command.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

void add_task(CLI::App& app) {
  CLI::App* command = app.add_subcommand("task", "Built-in tasks, with the attention that a solved model must show");
  command->group("Learn");
  command->footer("Example:\n  qkv task induction --examples 3");
  const auto arguments = std::make_shared<TaskArguments>();
  add_options(*command, *arguments);
  command->callback([arguments] {
    if (arguments->name.empty()) {
      list_tasks(arguments->json);
    } else {
      show_task(*arguments);
    }
  });
}

}  // namespace qkv::cli
