#include "qkv/nn/trace.h"

#include "../arrays.h"
#include "../owning_probe.h"
#include "../said_as.h"
#include "models.h"
#include "reading.h"

namespace qkv::python {
namespace {

// A pass of a model, and what it read.
struct ModelPass {
  SharedModel model;
  Example example;
  Trace trace;
};
using SharedPass = std::shared_ptr<ModelPass>;

// The functions of one pass. The trace holds its edits as long as it lives; what they call ends with the pass, or a
// function that sees the trace among its globals would keep it for ever.
class Functions {
 public:
  Functions() = default;
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;
  ~Functions() {
    for (const auto& function : all_) function->reset();
  }

  [[nodiscard]] std::shared_ptr<const nb::object> hold(nb::handle function) {
    return all_.emplace_back(std::make_shared<nb::object>(nb::borrow(function)));
  }

 private:
  std::vector<std::shared_ptr<nb::object>> all_;
};

Variable edited(const std::string& name, const nb::object& function, const Variable& value) {
  const nb::gil_scoped_acquire gil;
  const nb::object result = function(numpy_array(Tensor(value.value())));
  if (!is_array(result)) {
    const std::string text = "trace: edit of \"" + name + "\": expected the function to give an array, got " +
                             (result.is_none() ? "None" : said_type(result));
    throw nb::type_error(text.c_str());
  }
  const Tensor given = tensor_of(result, {"trace", "edit of \"" + name + "\""});
  return Variable(Tensor(given.view(), value.dtype()));
}

bool is_matrix(const std::string& name) { return name.ends_with(".weights") || name.ends_with(".masked"); }

void add_edit(Trace& trace, Functions& functions, const std::string& name, const std::vector<std::int64_t>& heads,
              nb::handle function) {
  if (PyCallable_Check(function.ptr()) == 0) {
    const std::string text = "trace: edit of \"" + name + "\": expected a function, got " + said_type(function);
    throw nb::type_error(text.c_str());
  }
  const Trace::Edit edit = [name, call = functions.hold(function)](const Variable& value) {
    return edited(name, *call, value);
  };
  if (is_matrix(name)) {
    trace.edit_heads(name, heads, edit);
  } else if (heads.empty()) {
    trace.edit(name, edit);
  } else {
    throw InvalidArgument("trace", "edit", "heads of a matrix, such as blocks.0.attn.weights", "heads of " + name);
  }
}

using NamedEdit = std::tuple<std::string, std::vector<std::int64_t>, nb::object>;

SharedPass passed(const SharedModel& model, const std::optional<std::vector<std::string>>& keep,
                  const std::vector<NamedEdit>& edits, const std::optional<std::string>& text, const nb::object& ids,
                  std::optional<std::int64_t> example, const nb::object& image, std::optional<std::int64_t> answer) {
  const TextModel& trained = model->trained;
  const auto pass = std::make_shared<ModelPass>(
      ModelPass{.model = model,
                .example = example_of("trace", trained, {text, ids, example, image, answer}),
                .trace = keep ? Trace(*keep) : Trace()});
  Functions functions;
  for (const auto& [name, heads, function] : edits) add_edit(pass->trace, functions, name, heads, function);
  const auto run = [&] {
    const Batch batch = trained.batch_of(pass->example);
    trained.model().run(input_of(batch), pass->trace);
  };
  said_as("trace", [&] { stoppably(run); });
  return pass;
}

std::vector<std::string> shown(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(shown_token(tokenizer, id));
  return tokens;
}

}  // namespace

void add_trace(nb::module_& module) {
  module.def("run", &passed, nb::arg("model"), nb::arg("keep"), nb::arg("edits"), nb::arg("text"),
             nb::arg("ids").none(), nb::arg("example"), nb::arg("image").none(), nb::arg("answer"));
  nb::class_<ModelPass>(module, "Pass")
      .def_prop_ro("names", [](const ModelPass& self) { return self.trace.names(); })
      .def_prop_ro("attentions", [](const ModelPass& self) { return self.trace.attentions(); })
      .def_prop_ro("ids", [](const ModelPass& self) { return self.example.tokens; })
      .def_prop_ro("tokens",
                   [](const ModelPass& self) { return shown(self.model->trained.tokenizer(), self.example.tokens); })
      .def_prop_ro(
          "source",
          [](const ModelPass& self) { return shown(self.model->trained.source_tokenizer(), self.example.source); })
      .def(
          "contains", [](const ModelPass& self, const std::string& name) { return self.trace.contains(name); },
          nb::arg("name"))
      .def(
          "value",
          [](const ModelPass& self, const std::string& name) {
            return numpy_array(stoppably([&] { return self.trace[name]; }));
          },
          nb::arg("name"), nb::sig("def value(self, name: str) -> numpy.typing.NDArray[typing.Any]"))
      .def(
          "probe",
          [](const SharedPass& self, const std::string& name) {
            return OwningProbe{
                .viewed = self, .probe = self->trace.probe(name), .mask = self->trace.attention(name).options.mask};
          },
          nb::arg("name"));
}

}  // namespace qkv::python
