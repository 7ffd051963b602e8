// Every field of every question of a command with values that have no meaning, asked of a studio and of the command:
// both say the same words of the same field.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/described_options.h"
#include "files/temporary_directory.h"
#include "qkv/api/questions.h"
#include "qkv/api/refusal.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"
#include "qkv/tensor.h"

namespace qkv::wrong_values_test {
namespace {

using Json = nlohmann::json;
using testing::Gt;
using tests::described_options;
using tests::DescribedOption;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

bool names(const std::vector<std::string>& all, const std::string& name) {
  return std::ranges::find(all, name) != all.end();
}

// As the command writes a value of JSON.
std::string written(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// A question's fields as the options of its command.
class Options {
 public:
  explicit Options(const Question& question) : question_(question) {
    for (const DescribedOption& option : described_options()) {
      if (option.command == question.command) options_.push_back(option.name);
    }
  }

  // None where the command takes it in another way.
  [[nodiscard]] std::string of(const FieldInfo& field) const {
    std::string name = field.option.empty() ? field.name : field.option;
    std::string place = name;
    std::ranges::replace(name, '_', '-');
    if (names(options_, "--" + name)) return "--" + name;
    std::ranges::replace(place, '_', ' ');
    std::ranges::transform(place, place.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return names(options_, place) ? place : "";
  }

  // The request as its words.
  [[nodiscard]] std::vector<std::string> words(const Json& request) const {
    std::vector<std::string> words, placed;
    for (std::size_t at = 0; at <= question_.command.size();) {
      const std::size_t end = std::min(question_.command.find(' ', at), question_.command.size());
      words.push_back(question_.command.substr(at, end - at));
      at = end + 1;
    }
    for (const FieldInfo& field : question_.fields) {
      if (!request.contains(field.name)) continue;
      const Json& value = request[field.name];
      const std::string option = of(field);
      const bool is_list = value.is_array() && field.words.empty() && field.type == FieldType::texts;
      for (const Json& one : is_list ? value : Json::array({value})) {
        if (!option.starts_with("--")) {
          placed.push_back(written(one));
        } else if (one.is_boolean()) {
          words.push_back(one ? option : "--no-" + option.substr(2));
        } else {
          words.push_back(option + "=" + joined(one));
        }
      }
    }
    if (names(options_, "--json")) words.emplace_back("--json");
    if (!placed.empty()) words.emplace_back("--");
    words.insert(words.end(), placed.begin(), placed.end());
    return words;
  }

  // What the command says where the question refuses so: its own names, of the field and of those in backquotes.
  [[nodiscard]] std::string said(const FieldInfo& field, const Refusal& refusal) const {
    std::string message = refusal.message;
    const bool is_of_language = refusal.column > 0;  // whose words stand in backquotes, too
    for (const FieldInfo& other : question_.fields) {
      const std::string quoted = "`" + other.name + "`";
      const std::string option = of(other);
      for (std::size_t at = 0;
           !option.empty() && !is_of_language && (at = message.find(quoted, at)) != std::string::npos;) {
        message.replace(at, quoted.size(), option);
      }
    }
    return "qkv " + question_.command + ": " + of(field) + ": " + message + "\n";
  }

 private:
  static std::string joined(const Json& value) {
    if (!value.is_array()) return written(value);
    std::string text;
    for (const Json& one : value) text += (text.empty() ? "" : ",") + written(one);
    return text;
  }

  const Question& question_;
  std::vector<std::string> options_;
};

// A request to which a wrong value of the field is added: one that has the field, or all that it needs.
Json with_field(const Question& question, const FieldInfo& field, const Json& value, Json request) {
  const auto is_there = [&](const std::string& name) { return request.contains(name.substr(0, name.find('='))); };
  request[field.name] = value;
  std::vector<std::string> needed = field.needs;
  if (!field.needs_one.empty() && std::ranges::none_of(field.needs_one, is_there)) {
    needed.push_back(field.needs_one.front());
  }
  for (const std::string& other : needed) {
    const std::size_t equals = other.find('=');
    const FieldInfo& one = *std::ranges::find(question.fields, other.substr(0, equals), &FieldInfo::name);
    if (equals != std::string::npos) request[one.name] = other.substr(equals + 1);
    if (is_there(one.name)) continue;
    const Json example = std::visit([](const auto& known) { return Json(known); }, field_value(one, one.example));
    request = with_field(question, one, example, std::move(request));
  }
  for (const FieldInfo& other : question.fields) {
    const bool is_choice = names(other.one_of, field.name) || names(field.one_of, other.name);
    const bool is_other = other.name != field.name;
    if (is_other && (is_choice || names(other.excludes, field.name) || names(field.excludes, other.name))) {
      request.erase(other.name);
    }
  }
  return request;
}

Json base_of(const Question& question, const FieldInfo& field) {
  static const std::map<std::string, Json> kBases = {
      {"probe", {{"q", "[[1,0],[0,1]]"}, {"k", "[[1,0],[1,1]]"}, {"row", 0}}},
      {"analyze", {{"model", "english"}}},
      {"check", {{"a", "./a.npy"}, {"b", "./a.npy"}}},
      {"train", {{"task", "copy"}, {"out", "./nowhere"}}},
      {"fetch", {{"name", "owner/name"}}},
      {"convert", {{"model", "gpt"}, {"out", "./nowhere.gguf"}}},
      {"match", {{"images", {"./a.png"}}, {"captions", {"a circle"}}}},
  };
  static const Json kOfText = {{"task", "text"}, {"data", "./text.txt"}, {"out", "./nowhere"}};
  if (names(field.needs, "task=text")) return kOfText;
  static const Json kOfGradients = {{"q", "[[1,0],[0,1]]"}, {"k", "[[1,0],[1,1]]"}, {"v", "[[1],[2]]"},
                                    {"d_out", "[[1],[2]]"}, {"stage", "ds"},        {"row", 0}};
  if (question.name == "probe" && names({"v", "past_v", "d_out", "d_lse"}, field.name)) return kOfGradients;
  static const Json kOfPicture = {{"model", "shapes"}};
  if (question.name == "explain" && field.name == "picture") return kOfPicture;
  const auto known = kBases.find(question.name);
  if (known != kBases.end()) return known->second;
  static const Json kOfPatch = {{"model", "induction"}, {"text", "abcxyzab"}, {"from_text", "xyzabcxy"}};
  if (question.name == "change" && field.name == "patch") return kOfPatch;
  Json first = Json::object();
  for (const std::string& example : question.examples) {
    const Json one = Json::parse(example);
    if (one.contains(field.name)) return one;
    if (first.empty()) first = one;
  }
  return first;
}

bool is_file(const FieldInfo& field) {
  static const std::set<std::string> kForms = {"FILE", "TENSOR", "PATH", "MODEL", "TREES"};
  return kForms.contains(field.form) || field.name == "model" || field.name == "tokenizer" || field.name == "npz";
}

bool is_number(const FieldInfo& field) {
  return field.type == FieldType::whole || field.type == FieldType::seed || field.type == FieldType::number;
}

// Of fields that are read by a language or looked up, texts that mean nothing there.
const std::map<std::string, std::string> kTexts = {
    {"against", "~"},      {"area", "x"},        {"bias", "alibbi"}, {"changes", "x"},   {"cut", "x"},
    {"head", "-"},         {"ids", "x"},         {"map", "x"},       {"mask", "cuasal"}, {"pattern", "x"},
    {"patch", "x"},        {"pooling", "men"},   {"preset", "gpt"},  {"query", "~"},     {"random", "1,2"},
    {"remove", "x"},       {"set", "x"},         {"step", "~"},      {"target", "abc"},  {"task", "copie"},
    {"tile", "x"},         {"token", "~"},       {"tokens", "4:2"},  {"window", "x"},    {"worked", "x"},
    {"test_lengths", "x"}, {"prompt_name", "x"}, {"pair", "x"},      {"text", ""},
};

// Fields of which any text may be meant, an empty one, too.
const std::map<std::string, std::string> kFree = {
    {"prompt", "what is read"},
    {"revision", "of a hub that is asked"},
    {"separator", "any line may be it"},
    {"system", "what is read"},
};

std::vector<Json> wrong_texts(const FieldInfo& field) {
  std::vector<Json> wrong;
  if (const auto known = kTexts.find(field.name); known != kTexts.end()) wrong.emplace_back(known->second);
  if (!field.may_be_empty && field.fallback.empty() && !field.alone) wrong.emplace_back("");
  return wrong;
}

std::vector<Json> wrong_lists(const FieldInfo& field) {
  std::vector<Json> wrong;
  if (const auto known = kTexts.find(field.name); known != kTexts.end()) wrong.emplace_back(known->second);
  wrong.emplace_back("");
  return wrong;
}

// Values without a meaning for the field: beyond both ends of its bounds, none of its words, a file that is not there,
// a folder, and a file that holds something else.
std::vector<Json> wrong_values(const FieldInfo& field) {
  if (!field.words.empty()) return {field.type == FieldType::texts ? Json({"x7"}) : Json("x7")};
  if (field.type == FieldType::size || field.type == FieldType::seed) return {-1};
  if (is_number(field)) {
    const double below =
        field.least.is_open ? field.least.at : field.least.at - std::max(1.0, std::abs(field.least.at));
    const double above = field.most.is_open ? field.most.at : field.most.at + std::max(1.0, std::abs(field.most.at));
    if (field.type == FieldType::number) return {below, above};
    return {static_cast<std::int64_t>(below), static_cast<std::int64_t>(above)};
  }
  if (field.type == FieldType::text && is_file(field)) return {"./none.npy", "./folder", "./page.npy"};
  if (field.type == FieldType::texts && is_file(field))
    return {Json({"./none.npy"}), Json({"./folder"}), Json({"./page.npy"})};
  if (field.type == FieldType::texts || field.type == FieldType::wholes) return wrong_lists(field);
  if (field.type == FieldType::text) return wrong_texts(field);
  return {};
}

// What a folder and a page are as good as any other for.
bool is_meant(const FieldInfo& field, const Json& value) {
  const std::string text = value.is_array() ? written(value.front()) : written(value);
  return text == "./page.npy" && (field.name == "file" || field.name == "data");
}

class WrongValues : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::current_path(directory_.path());
    std::filesystem::create_directory("folder");
    write_tensor("a.npy", Tensor(std::vector<float>{1, 2}, Shape{2}));
    write_file("page.npy", std::string_view("<!doctype html><title>Not here</title>"));
    write_file("text.txt", std::string_view("some text\nand more\n"));
    std::filesystem::copy_file(QKV_SOURCE_DIR "/tests/fuzz/corpus/png/rgba.png", "a.png");
  }
  void TearDown() override { std::filesystem::current_path(home_); }

  Refusal refused(const Question& question, const Json& request) {
    try {
      static_cast<void>(studio_.ask(question.name, request.dump()));
    } catch (const Error& error) {
      return refusal_of(error);
    }
    ADD_FAILURE() << question.name << " takes " << request;
    return {};
  }

 private:
  const std::filesystem::path home_ = std::filesystem::current_path();
  const TemporaryDirectory directory_;
  Studio studio_{{.text = {}, .asker = Asker::owner}};
};

TEST_F(WrongValues, AreSaidAlikeByTheCommandAndTheQuestion) {
  int walked = 0;
  std::set<std::string> free;
  for (const Question& question : questions()) {
    if (question.command.empty() || question.command == "view") continue;
    const Options options(question);
    for (const FieldInfo& field : question.fields) {
      if (options.of(field).empty()) continue;
      const bool is_flag = field.type == FieldType::flag || field.type == FieldType::toggle;
      if (wrong_values(field).empty() && !is_flag) free.insert(field.name);
      for (const Json& wrong : wrong_values(field)) {
        if (is_meant(field, wrong)) continue;
        const Json request = with_field(question, field, wrong, base_of(question, field));
        const Refusal refusal = refused(question, request);
        const Outcome outcome = run_qkv(options.words(request));
        const std::string what = question.name + " " + request.dump() + "\n" + outcome.err;
        EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << what;
        EXPECT_EQ(refusal.field, field.name) << what;
        EXPECT_EQ(outcome.err, options.said(field, refusal)) << what;
        ++walked;
      }
    }
  }
  EXPECT_THAT(walked, Gt(350));
  for (const std::string& name : free) EXPECT_TRUE(kFree.contains(name)) << name;
  for (const auto& [name, why] : kFree) EXPECT_TRUE(free.contains(name)) << name << " has a wrong value";
}

}  // namespace
}  // namespace qkv::wrong_values_test
