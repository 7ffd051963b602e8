// Every field of every question of the pages, with and without, beside each of several requests: what comes must
// differ, or the field is refused. A field that is taken and does nothing fails.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
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

// Requests beside a question's own examples.
const std::map<std::string, std::vector<Json>>& more_requests() {
  const Json induction = {{"model", "induction"}, {"text", "abcxyzab"}, {"layer", 1}};
  const auto with = [](Json request, const Json& more) {
    request.update(more);
    return request;
  };
  const Json removed = with(induction, {{"changes", "remove 0.0"}});
  const Json patched = with(induction, {{"changes", "patch blocks.0"}, {"from_text", "xyzabcxy"}});
  const Json of_x = {{"x", "1,0;0,1;1,1"}, {"w_q", "1,1;0,1"}, {"w_k", "1,1;0,1"}, {"w_v", "1,1;0,1"}};
  // The same of a made-up text, of a text and of one with two sides.
  const auto far = [&](const Json& made_up, const Json& read) {
    return std::vector<Json>{with(made_up, {{"tokens", 1024}}), with(induction, read),
                             with({{"model", "copy"}, {"text", "abcxyz"}}, read)};
  };
  const Json tiny_run = {{"task", "previous"}, {"steps", 3},         {"batch", 2},      {"d_model", 8}, {"d_ff", 8},
                         {"warm_up", 1},       {"examine_every", 3}, {"save_every", 3}, {"examples", 2}};
  static const std::map<std::string, std::vector<Json>> kAll = {
      {"bench", {{{"wrong", "no-scale"}}, {{"move", "1,0"}}, {{"seed", 7}}, induction, of_x}},
      {"number", {with(induction, {{"of", "weights:7,2"}})}},
      {"pictures", {{{"seed", 7}}, induction, of_x}},
      {"head", {removed, patched, {{"model", "copy"}, {"example", 0}}}},
      {"head_parts", {removed, patched}},
      {"pair", {removed, patched}},
      {"mask",
       {{{"mask", "causal"}, {"tq", 100}, {"tk", 100}, {"map", true}},
        {{"mask", "causal"}, {"tq", 40}, {"tk", 40}, {"tile", "2"}, {"map", true}}}},
      {"explain", {{{"text", "The cat"}, {"heads", 4}, {"d_model", 16}}, {{"model", "gpt"}, {"text", "The cat"}}}},
      {"analyze", {{{"model", "induction"}, {"count", 16}}, {{"model", "copy"}, {"count", 4}}}},
      {"match", {{{"images", {QKV_SOURCE_DIR "/tests/fuzz/corpus/png/rgba.png"}}, {"captions", {"a green circle"}}}}},
      {"change",
       {{{"model", "induction"}, {"text", "abcxyzab"}, {"changes", {"remove 1.0"}}},
        {{"model", "induction"}, {"texts", {"abcxyza"}}, {"changes", {"remove 1.0"}}},
        {{"model", "induction"}, {"text", "abcxyzab"}, {"sweep", "heads"}}}},
      {"train", {tiny_run}},
      {"far_open", far(Json::object(), Json::object())},
      {"far_tile", far({{"level", 1}, {"row", 1}, {"column", 1}}, Json::object())},
      {"far_walk", far(Json::object(), Json::object())},
      {"far_row", far({{"query", 1000}, {"at", "0,990"}}, {{"query", 2}, {"count", 1}, {"at", "0"}})},
      {"far_largest", far({{"area", "960:1024,960:1024"}}, {{"area", "0:4,0:4"}})},
      {"far_find", far({{"word", "a"}}, {{"word", "a"}})},
  };
  return kAll;
}

// Of what is much work, a long text and a drawn model's explanation, only those that are made here.
std::vector<Json> requests_of(const Question& question) {
  std::vector<Json> all;
  const auto more = more_requests().find(question.name);
  if (more != more_requests().end()) all = more->second;
  for (const std::string& example : question.examples) {
    const Json request = Json::parse(example);
    const bool is_drawn = question.name == "explain" && request.contains("text") && !request.contains("model");
    if (!is_drawn && !question.name.starts_with("far_")) all.push_back(request);
  }
  return all;
}

// Without it a request is much work.
bool is_little_work(const Question& question, const Json& request) {
  if (question.name == "train") return request.contains("steps");
  return !question.name.starts_with("far_") || request.contains("model") || request.contains("text") ||
         request.contains("tokens");
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

// A field that is taken beside some requests and changes nothing there, for a reason.
struct Excused {
  std::string question, field;  // "*": any
  Json beside;
  std::string why;
};

const std::vector<Excused>& excused() {
  static const std::vector<Excused> kAll = {
      {"number", "*", Json::object(), "the bench that it lies on has fields that this number is not made of"},
      {"pictures", "mask", {{"key", 0}, {"masses", "1,2,1"}}, "the weights are not drawn then"},
      {"pictures", "bias", {{"key", 0}, {"masses", "1,2,1"}}, "the weights are not drawn then"},
      {"analyze", "dtype", {{"syntax", "english"}}, "heads' largest weights are at the same words"},
      {"far_find", "*", Json::object(), "its fields tell which head is looked at, as in the other questions"},
      {"mask", "cells", {{"map", true}}, "a limit that is not reached, or not above"},
      {"mask", "tile", {{"tq", 8}, {"tk", 6}}, "both are larger than the matrix"},
      {"cost", "causal", {{"preset", "gpt2"}}, "gpt2 is causal"},
      {"explain", "layer", {{"model", "induction"}}, "the text calls for this layer"},
  };
  return kAll;
}

// Where it is, for whoever counts.
const Excused* excuse_of(const Question& question, const FieldInfo& field, const Json& request) {
  const auto is_any_or = [](const std::string& asked, const std::string& name) {
    return asked == "*" || asked == name;
  };
  for (const Excused& one : excused()) {
    const bool is_beside = std::ranges::all_of(one.beside.items(), [&](const auto& item) {
      return request.contains(item.key()) && request[item.key()] == item.value();
    });
    if (one.question == question.name && is_any_or(one.field, field.name) && is_beside) return &one;
  }
  return nullptr;
}

struct Told {
  bool is_taken = false;
  std::string reply = {};  // with what was written, or the error
  bool operator==(const Told&) const = default;
};

class Varied {
 public:
  const Told& told(const Question& question, const Json& request) {
    const std::string key = question.name + request.dump();
    const auto known = told_.find(key);
    if (known != told_.end()) return known->second;
    try {
      return told_[key] = {.is_taken = true, .reply = reply_to(question, request)};
    } catch (const Error& error) {
      return told_[key] = {.is_taken = false, .reply = error.what()};
    }
  }

 private:
  std::string reply_to(const Question& question, const Json& request) {
    if (question.name == "train") return trained(request);
    const StudioReply found = studio_.ask(question.name, request.dump());
    std::string reply = found.json;
    return reply.append(reinterpret_cast<const char*>(found.blocks.data()), found.blocks.size());
  }

  // What a run in a directory of its own says and writes.
  std::string trained(const Json& request) {
    const tests::TemporaryDirectory directory;
    const tests::WorkingDirectory inside(directory.path());
    Json json = Json::parse(studio_.ask("train", request.dump()).json);
    forget_times(json);
    return json.dump() + files_here();
  }

  Studio studio_;
  std::map<std::string, Told> told_;
};

// A request with a field, and the same without it.
struct Pair {
  Json with, without;
};

std::vector<Pair> pairs_of(const Question& question, const FieldInfo& field, const Json& base) {
  std::vector<Pair> pairs;
  const auto add = [&](const Json& request, const Json& plain) {
    Json without = request;
    without.erase(field.name);
    pairs.push_back({.with = request, .without = is_little_work(question, without) ? without : plain});
  };
  Json with = base;
  with[field.name] = example_of(question, field);
  if (base.contains(field.name)) {
    add(base, with);
    return pairs;
  }
  add(with, base);
  // A page is refused the tasks that read files, so what these alone take is refused by its name; and what goes on with
  // a run is tried in learn_test.cc.
  const Json beside = with_example(question, field, base);
  const bool is_of_other_task = question.name == "train" && (beside["task"] != base["task"] || field.name == "resume");
  const bool is_of_another_base =
      std::ranges::any_of(base.items(), [&](const auto& item) { return !beside.contains(item.key()); });
  if (beside != with && !is_of_other_task && !is_of_another_base) add(beside, base);
  return pairs;
}

TEST(Fields, OfEveryQuestionHaveAnEffectWhereTheyAreTaken) {
  Varied varied;
  std::set<const Excused*> used;
  for (const Question& question : questions()) {
    if (!question.is_of_pages) continue;  // tests/cli varies options
    const std::vector<Json> bases = requests_of(question);
    for (const Json& base : bases) {
      EXPECT_TRUE(varied.told(question, base).is_taken) << question.name << base << varied.told(question, base).reply;
    }
    for (const FieldInfo& field : question.fields) {
      bool has_effect = false;
      for (const Json& base : bases) {
        for (const Pair& pair : pairs_of(question, field, base)) {
          const Told& with = varied.told(question, pair.with);
          const bool is_other = with != varied.told(question, pair.without);
          has_effect = has_effect || is_other;
          if (is_other || !with.is_taken) continue;
          const Excused* const excuse = excuse_of(question, field, pair.with);
          EXPECT_NE(excuse, nullptr) << question.name << "." << field.name << " does nothing in " << pair.with;
          used.insert(excuse);
        }
      }
      // It tells which head is looked at, as in the other questions; its text is the same.
      if (question.name == "far_find" && field.name == "mask") continue;
      EXPECT_TRUE(has_effect) << question.name << "." << field.name << " = " << field.example;
    }
  }
  for (const Excused& one : excused()) EXPECT_TRUE(used.contains(&one)) << one.question << "." << one.field;
}

}  // namespace
}  // namespace qkv::effects_of_fields_test
