// Any question by its name.
#include <algorithm>

#include "asking.h"
#include "python_writer.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"

namespace qkv::python {
namespace {

/// By the name that Python has for it.
struct AskedQuestion {
  std::string name;
  const Question* question;
};

// The page as text, or the file that it was written to. The studio's pages are in the package's command.
PageReply written_page(const PageRequest& request) {
  const nb::gil_scoped_acquire gil;
  const nb::object pictures = nb::module_::import_("qkv._pictures");
  nb::list words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.append(std::string(option) + "=" + value);
  };
  words.append("view");
  add("--text", request.studio.text);
  add("--mask", request.studio.mask);
  words.append("--export");
  request.file.empty() ? words.append(pictures.attr("FILE")) : words.append(request.file);
  if (!request.studio.model.empty()) words.append("--");
  if (!request.studio.model.empty()) words.append(request.studio.model);
  const auto page = nb::cast<std::string>(pictures.attr("exported")(words, "view"));
  return {.page = request.file.empty() ? page : "", .file = request.file};
}

// Keeps the models and passes of the last questions, as long as the process lives.
Studio& studio() {
  static Studio one({.text = {}, .asker = Asker::owner, .writes_page = written_page});
  return one;
}

// A command's question is called as the command is: "bench_positions" of `qkv bench positions`.
std::string python_name_of(const Question& question) {
  std::string name = question.command.empty() ? question.name : question.command;
  std::ranges::replace(name, ' ', '_');
  return name;
}

const std::vector<AskedQuestion>& all_questions() {
  static const std::vector<AskedQuestion> kAll = [] {
    std::vector<AskedQuestion> all;
    for (const Question& one : questions()) all.push_back({python_name_of(one), &one});
    return all;
  }();
  return kAll;
}

const Question& asked_question(const std::string& name) {
  std::vector<std::string> names;
  std::string known;
  const auto same = std::ranges::find_if(
      all_questions(), [&](const AskedQuestion& one) { return one.name == name || one.question->name == name; });
  if (same != all_questions().end()) return *same->question;
  for (const auto& [named, question] : all_questions()) {
    names.emplace_back(named);
    known += (known.empty() ? "" : ", ") + named;
  }
  const auto nearest = nearest_name(name, names);
  throw InvalidArgument("ask", "question", "one of " + known,
                        "\"" + name + "\"" + (nearest ? "; did you mean " + *nearest + "?" : ""));
}

// What was given as "from" is called so; all else by Python's names.
std::vector<FieldInfo> fields_as_typed(const Question& question, const nb::dict& given) {
  std::vector<FieldInfo> fields(question.fields.begin(), question.fields.end());
  for (FieldInfo& field : fields) {
    const bool has_pythons = given.contains(python_name(field).c_str());
    if (given.contains(field.name.c_str()) && !has_pythons) field.python.clear();
  }
  return fields;
}

nb::object asked(const std::string& name, const Given& given) {
  const Question& question = asked_question(name);
  const std::vector<FieldInfo> fields = fields_as_typed(question, given);
  const AskingFunction function{.name = name, .fields = fields};
  const FieldValues values = field_values(function, given);
  const auto answer = [&] { return studio().answer(question.name, values, signal_watch()); };
  return object_of(said_in_python(function, [&] { return stoppably(answer); }));
}

nb::list listed() {
  nb::list all;
  for (const auto& [name, question] : all_questions()) {
    all.append(nb::make_tuple(name, described({.name = name, .fields = question->fields}), question->examples));
  }
  return all;
}

}  // namespace

void add_ask(nb::module_& module) {
  module.def("ask", &asked, nb::arg("question"), nb::arg("given"));
  module.def("questions", &listed,
             nb::sig("def questions() -> list[tuple[str, list[tuple[str, str, typing.Any, bool, str]], list[str]]]"));
  module.def("arguments", &told_arguments,
             nb::sig("def arguments() -> dict[str, list[tuple[str, str, typing.Any, bool, str]]]"));
}

}  // namespace qkv::python
