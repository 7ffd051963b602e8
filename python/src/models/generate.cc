#include "../said_as.h"
#include "fields.h"
#include "models.h"
#include "qkv/api/texts.h"

namespace qkv::python {
namespace {

void say_what_is_left_out(const LoadedModel& self) {
  for (const std::string& word : unheeded_in_generation(self.path)) {
    const std::string text = self.name + ": its generation_config.json asks for what is not done here: " + word;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
  }
}

// (text, tokens, end) of each prompt.
using Written = std::tuple<std::string, std::vector<std::int32_t>, std::string>;

std::vector<Written> written_by(const LoadedModel& self, const std::vector<std::string>& prompts, const Given& given,
                                const nb::object& said) {
  WriteOptions options = write_options(request_of("generate", write_fields(), given), self.trained.model());
  if (!said.is_none()) {
    options.said = [&](std::int64_t text, std::string_view part) {
      const nb::gil_scoped_acquire gil;
      said(text, std::string(part));
    };
  }
  say_what_is_left_out(self);
  const auto write = [&] { return write_texts(self.trained, prompts, options); };
  const std::vector<WrittenText> texts =
      said_as("generate", [&] { return stoppably(write); }, {{"prompts", "prompt"}, {"stops", "stop"}});
  std::vector<Written> all;
  for (const WrittenText& text : texts) all.emplace_back(text.text, text.tokens, std::string(name_of(text.end)));
  return all;
}

}  // namespace

void add_generate(nb::module_& module) {
  tell_arguments("generate", write_fields().infos());
  module.def("generate", &written_by, nb::arg("model"), nb::arg("prompts"), nb::arg("given"), nb::arg("said").none());
}

}  // namespace qkv::python
