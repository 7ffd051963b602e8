// Every field of every question of the pages, with and without: what comes must differ. A field that does nothing
// fails.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "qkv/api/questions.h"
#include "qkv/error.h"

namespace qkv::effects_of_fields_test {
namespace {

Json example_of(const FieldInfo& field) {
  return std::visit([](const auto& value) { return Json(value); }, field_value(field, field.example));
}

const FieldInfo& named(const Question& question, const std::string& name) {
  return *std::ranges::find(question.fields, name, &FieldInfo::name);
}

// The request with an example of the field, of those that it needs, and without those that it has no meaning beside.
Json with_example(const Question& question, const FieldInfo& field, Json request) {
  const auto is_there = [&](const std::string& name) { return request.contains(name); };
  request[field.name] = example_of(field);
  std::vector<std::string> needed = field.needs;
  if (!field.needs_one.empty() && std::ranges::none_of(field.needs_one, is_there)) {
    needed.push_back(field.needs_one.front());
  }
  for (const std::string& other : needed) {
    if (!is_there(other)) request = with_example(question, named(question, other), std::move(request));
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
  };
  return kAll;
}

class Varied {
 public:
  // The reply, or the error.
  const std::string& asked(const Question& question, const Json& request) {
    std::string& reply = replies_[question.name + request.dump()];
    if (!reply.empty()) return reply;
    try {
      const StudioReply found = studio_.ask(question.name, request.dump());
      reply = found.json;
      reply.append(reinterpret_cast<const char*>(found.blocks.data()), found.blocks.size());
    } catch (const Error& error) {
      reply = error.what();
    }
    return reply;
  }

  bool has_effect(const Question& question, const FieldInfo& field, const Json& base) {
    Json with = with_example(question, field, base);
    Json without = with;
    without.erase(field.name);
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
    // It writes into the working directory; and walks over made-up texts take minutes.
    if (question.name == "train" || question.name.starts_with("far_")) continue;
    std::vector<Json> bases;
    for (const std::string& example : question.examples) bases.push_back(Json::parse(example));
    const auto more = more_requests().find(question.name);
    if (more != more_requests().end()) bases.insert(bases.begin(), more->second.begin(), more->second.end());
    for (const FieldInfo& field : question.fields) {
      const bool has_effect =
          std::ranges::any_of(bases, [&](const Json& base) { return varied.has_effect(question, field, base); });
      EXPECT_TRUE(has_effect) << question.name << "." << field.name << " = " << field.example;
    }
  }
}

}  // namespace
}  // namespace qkv::effects_of_fields_test
