// Any question by its name.
#include <algorithm>

#include "asking.h"
#include "python_writer.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/nearest_word.h"

namespace qkv::python {
namespace {

/// By the name that Python has for it.
struct AskedQuestion {
  std::string name;
  const Question* question;
};

// Keeps the models and passes of the last questions, as long as the process lives.
Studio& studio() {
  static Studio one({.text = {}, .asker = Asker::owner});
  return one;
}

// The page as text, or the file that it was written to: by the package's command, in which the studio's pages are.
AnyReply page_of(const Question& question, const FieldValues& values) {
  std::string model;
  std::string file;
  const nb::gil_scoped_acquire gil;
  const nb::object pictures = nb::module_::import_("qkv._pictures");
  nb::list words;
  words.append(question.command);
  for (const auto& [n, value] : values) {
    const std::string& name = question.fields[n].name;
    const std::string& text = std::get<std::string>(value);
    if (name == "model" || name == "export") {
      (name == "model" ? model : file) = text;
    } else {
      words.append("--" + name + "=" + text);
    }
  }
  words.append("--export");
  file.empty() ? words.append(pictures.attr("FILE")) : words.append(file);
  words.append("--");
  if (!model.empty()) words.append(model);
  const auto page = nb::cast<std::string>(pictures.attr("exported")(words, question.command));
  return any_reply(PageReply{.page = file.empty() ? page : "", .file = file});
}

// A command's question is called as the command is: "bench positions".
std::string python_name_of(const Question& question) {
  return question.command.empty() ? question.name : question.command;
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
  std::vector<std::string_view> names;
  std::string known;
  const auto same = std::ranges::find_if(
      all_questions(), [&](const AskedQuestion& one) { return one.name == name || one.question->name == name; });
  if (same != all_questions().end()) return *same->question;
  for (const auto& [named, question] : all_questions()) {
    names.emplace_back(named);
    known += (known.empty() ? "" : ", ") + named;
  }
  const auto nearest = nearest_word(name, names);
  throw InvalidArgument("ask", "question", "one of " + known,
                        "\"" + name + "\"" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : ""));
}

nb::object asked(const std::string& name, const Given& given) {
  const Question& question = asked_question(name);
  const FieldValues values = field_values({.name = name, .fields = question.fields}, given);
  const Hearing hearing(name);
  const auto answer = [&] {
    return question.command == "view" ? page_of(question, values)
                                      : studio().answer(question.name, values, signal_watch());
  };
  const AnyReply reply = said_in_python(name, question.fields, [&] { return stoppably(answer); });
  hearing.warn();
  return object_of(reply);
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
