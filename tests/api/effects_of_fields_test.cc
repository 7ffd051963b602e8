// Every field of every question of the pages, with and without: what comes must differ. A field that does nothing
// fails.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "api/working_directory.h"
#include "files/temporary_directory.h"
#include "qkv/api/questions.h"
#include "qkv/error.h"

namespace qkv::effects_of_fields_test {
namespace {

Json value_of(const FieldInfo& field, const std::string& text) {
  return std::visit([](const auto& value) { return Json(value); }, field_value(field, text));
}

// Shorter than the example of the field where that would take minutes.
Json example_of(const Question& question, const FieldInfo& field) {
  const bool is_long = question.name.starts_with("far_") && field.name == "tokens";
  return value_of(field, is_long ? "2048" : field.example);
}

const FieldInfo& named(const Question& question, const std::string& name) {
  return *std::ranges::find(question.fields, name, &FieldInfo::name);
}

// The request with an example of the field, of those that it needs, and without those that it has no meaning beside.
Json with_example(const Question& question, const FieldInfo& field, Json request) {
  const auto is_there = [&](const std::string& name) { return request.contains(name); };
  request[field.name] = example_of(question, field);
  std::vector<std::string> needed = field.needs;
  if (!field.needs_one.empty() && std::ranges::none_of(field.needs_one, is_there)) {
    needed.push_back(field.needs_one.front());
  }
  for (const std::string& other : needed) {
    // "field", or "field=value".
    const std::string name = other.substr(0, other.find('='));
    if (name != other) {
      request[name] = value_of(named(question, name), other.substr(name.size() + 1));
    } else if (!is_there(other)) {
      request = with_example(question, named(question, other), std::move(request));
    }
  }
  for (const FieldInfo& other : question.fields) {
    const auto names = [](const std::vector<std::string>& all, const std::string& name) {
      return std::ranges::find(all, name) != all.end();
    };
    const bool is_choice = names(other.one_of, field.name) || names(field.one_of, other.name);
    if (is_choice || names(other.excludes, field.name) || names(field.excludes, other.name)) request.erase(other.name);
  }
  return request;
}

// Requests beside a question's own examples, in which a field has an effect.
const std::map<std::string, std::vector<Json>>& more_requests() {
  const Json induction = {{"model", "induction"}, {"text", "abcxyzab"}, {"layer", 1}};
  const auto with = [&](const char* name, const Json& value) {
    Json request = induction;
    request[name] = value;
    return request;
  };
  // The same of a made-up text, of a text and of one with two sides.
  const auto far = [](const Json& more) {
    std::vector<Json> all = {{{"tokens", 1024}},
                             {{"model", "induction"}, {"text", "abcxyzab"}, {"layer", 1}},
                             {{"model", "copy"}, {"text", "abcxyz"}, {"layer", 0}}};
    for (Json& one : all) one.update(more);
    return all;
  };
  const Json tiny_run = {{"task", "previous"},  {"steps", 3},      {"batch", 2},      {"layers", 1},
                         {"d_model", 8},        {"heads", 1},      {"d_ff", 8},       {"warm_up", 1},
                         {"examine_every", 3},  {"save_every", 3}, {"keep_every", 0}, {"examples", 2},
                         {"optimizer", "adamw"}};
  static const std::map<std::string, std::vector<Json>> kAll = {
      {"bench", {{{"wrong", "no-scale"}}, {{"move", "1,0"}}}},
      {"head", {with("changes", "patch blocks.0")}},
      {"head_parts", {with("changes", "patch blocks.0")}},
      {"pair", {with("changes", "patch blocks.0")}},
      {"mask",
       {{{"mask", "causal"}, {"tq", 100}, {"tk", 100}, {"map", true}},
        {{"mask", "causal"}, {"tq", 40}, {"tk", 40}, {"tile", "2"}, {"map", true}}}},
      {"explain", {{{"text", "The cat sat"}, {"heads", 4}}, {{"model", "gpt"}, {"text", "The cat sat"}}}},
      {"analyze", {{{"model", "induction"}, {"count", 16}}}},
      {"match", {{{"images", {QKV_SOURCE_DIR "/tests/fuzz/corpus/png/rgba.png"}}, {"captions", {"a green circle"}}}}},
      {"change", {{{"model", "induction"}, {"text", "abcxyza"}, {"changes", {"remove 1.0"}}}}},
      {"train", {tiny_run}},
      {"far_open", far(Json::object())},
      {"far_tile", far({{"level", 1}, {"row", 1}, {"column", 1}})},
      {"far_walk", far(Json::object())},
      {"far_row", far({{"query", 1000}, {"at", "0,990"}})},
      {"far_largest", far({{"area", "960:1024,960:1024"}})},
      {"far_find", far({{"word", "a"}})},
  };
  return kAll;
}

// Without what a clock said.
void forget_times(Json& json) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) {
      const bool is_time = it.key().find("second") != std::string::npos;
      it = is_time ? json.erase(it) : std::next(it);
    }
  }
  if (json.is_structured()) {
    for (Json& one : json) forget_times(one);
  }
}

// What a question writes into the working directory: names, and the bytes of models.
std::string files_here() {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
    if (!entry.is_regular_file()) continue;
    std::string& bytes = files[entry.path().string()];
    if (entry.path().extension() != ".safetensors") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::string all;
  for (const auto& [name, bytes] : files) all += name + '\n' + bytes;
  return all;
}

class Varied {
 public:
  // The reply with what was written, or the error.
  const std::string& asked(const Question& question, const Json& request) {
    std::string& reply = replies_[question.name + request.dump()];
    if (!reply.empty()) return reply;
    try {
      if (question.name == "train") return reply = trained(request);
      const StudioReply found = studio_.ask(question.name, request.dump());
      reply = found.json;
      reply.append(reinterpret_cast<const char*>(found.blocks.data()), found.blocks.size());
    } catch (const Error& error) {
      reply = error.what();
    }
    return reply;
  }

  // What a run in a directory of its own says and writes.
  std::string trained(const Json& request) {
    const tests::TemporaryDirectory directory;
    const tests::WorkingDirectory inside(directory.path());
    Json json = Json::parse(studio_.ask("train", request.dump()).json);
    forget_times(json);
    return json.dump() + files_here();
  }

  bool has_effect(const Question& question, const FieldInfo& field, const Json& base) {
    Json with = with_example(question, field, base);
    // A page is refused the tasks that read files, so what these alone take is refused by its name; and what goes on
    // with a run is tried in learn_test.cc.
    if (question.name == "train" && (with["task"] != base["task"] || field.name == "resume")) {
      with = base;
      with[field.name] = example_of(question, field);
    }
    Json without = with;
    without.erase(field.name);
    // As many as are made up otherwise take a minute.
    if (question.name.starts_with("far_") && field.name == "tokens") without = base;
    return asked(question, with) != asked(question, without);
  }

 private:
  Studio studio_;
  std::map<std::string, std::string> replies_;
};

TEST(Fields, OfEveryQuestionHaveAnEffect) {
  Varied varied;
  for (const Question& question : questions()) {
    if (!question.is_of_pages) continue;  // tests/cli varies options
    std::vector<Json> bases;
    for (const std::string& example : question.examples) bases.push_back(Json::parse(example));
    const auto more = more_requests().find(question.name);
    if (more != more_requests().end()) bases.insert(bases.begin(), more->second.begin(), more->second.end());
    for (const FieldInfo& field : question.fields) {
      // It tells which head is looked at, as in the other questions; its text is the same.
      if (question.name == "far_find" && field.name == "mask") continue;
      const bool has_effect =
          std::ranges::any_of(bases, [&](const Json& base) { return varied.has_effect(question, field, base); });
      EXPECT_TRUE(has_effect) << question.name << "." << field.name << " = " << field.example;
    }
  }
}

}  // namespace
}  // namespace qkv::effects_of_fields_test
