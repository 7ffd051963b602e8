// Any question by its name.
#include <algorithm>
#include <memory>

#include "fields.h"
#include "models.h"
#include "python_writer.h"
#include "qkv/api/command_questions.h"
#include "qkv/api/studio.h"
#include "qkv/nearest_word.h"

namespace qkv::python {
namespace {

/// As whoever asks by name has it.
struct AskedQuestion {
  std::string name;
  std::span<const FieldInfo> fields;
  std::vector<std::string> examples;
  std::function<AnyReply(const FieldValues&)> answer;
};

// Keeps the models and passes of the last questions, as long as the process lives.
Studio& studio() {
  static Studio one;
  return one;
}

// The page as text, or the file that it was written to. The studio's pages are in the package's command.
AnyReply page_of(const FieldValues& values) {
  const PageRequest request = page_fields().from_values(values);
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
  const std::string page = nb::cast<std::string>(pictures.attr("exported")(words, "view"));
  return [page, file = request.file](ReplyWriter& writer) {
    writer.begin_object();
    writer.key(file.empty() ? "page" : "export");
    writer.value(std::string_view(file.empty() ? page : file));
    writer.end_object();
  };
}

const std::vector<AskedQuestion>& all_questions() {
  static const std::vector<AskedQuestion> kAll = [] {
    std::vector<AskedQuestion> all;
    for (const CommandQuestion& one : command_questions())
      all.push_back({one.name, one.fields, one.examples, one.answer});
    all.push_back({"view", page_fields().infos(), {R"({"model": "induction", "text": "abcxyzab"})"}, page_of});
    for (const Question& one : Studio::questions()) {
      all.push_back({"studio " + one.name, one.fields, one.examples,
                     [&one](const FieldValues& values) { return studio().answer(one.name, values, signal_watch()); }});
    }
    return all;
  }();
  return kAll;
}

const AskedQuestion& question_named(const std::string& name) {
  const auto found = std::ranges::find(all_questions(), name, &AskedQuestion::name);
  if (found != all_questions().end()) return *found;
  std::vector<std::string_view> names;
  std::string known;
  for (const AskedQuestion& one : all_questions()) {
    names.emplace_back(one.name);
    known += (known.empty() ? "" : ", ") + one.name;
  }
  const auto nearest = nearest_word(name, names);
  throw InvalidArgument("ask", "question", "one of " + known,
                        "\"" + name + "\"" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : ""));
}

nb::object asked(const std::string& name, const Given& given) {
  const AskedQuestion& question = question_named(name);
  const FieldValues values = field_values(name, question.fields, given);
  const AnyReply reply =
      said_in_python(name, question.fields, [&] { return stoppably([&] { return question.answer(values); }); });
  return object_of(reply);
}

nb::list listed() {
  nb::list all;
  for (const AskedQuestion& one : all_questions()) {
    all.append(nb::make_tuple(one.name, described(one.fields), one.examples));
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
