#include <filesystem>

#include "../arrays.h"
#include "../said_as.h"
#include "asking.h"
#include "reading.h"
#include "tokenizer.h"

namespace qkv::python {
namespace {

std::shared_ptr<LoadedModel> opened(const std::string& name, const std::string& dtype) {
  const auto numbers = model_numbers_named(dtype);
  if (!numbers) throw InvalidArgument("open", "dtype", "f32, f64 or file", "\"" + dtype + "\"");
  const std::string path = std::filesystem::absolute(trained_model_path(name)).string();
  auto loaded = stoppably([&] {
    LoadedModel model{.name = name, .path = path, .trained = TrainedModel::read(path, QuantisedWeights::as_stored)};
    if (numbers == ModelNumbers::f64) {
      model.trained = model.trained.to(DType::f64);
    } else if (numbers == ModelNumbers::f32 && !model.trained.model().quantised_words().empty()) {
      model.stored = std::exchange(model.trained, TrainedModel::read(path));
    }
    return std::make_shared<LoadedModel>(std::move(model));
  });
  warn(name, loaded->trained.model().cautions());
  return loaded;
}

// Scores, states, or the vector of a text or an image.
Tensor said_by(const Model& model, const ModelInput& input, const ModelCall& call) {
  if (model.traits().is_pair && input.images.data() != nullptr && input.ids.data() != nullptr) {
    throw InvalidArgument("Model", "image", "a text or an image: match() holds one against the other", "both");
  }
  return Tensor(model.result(input, call).value());
}

nb::object call_of(const LoadedModel& self, const std::optional<std::string>& text, const nb::object& ids,
                   std::optional<std::int64_t> example, const nb::object& image, std::optional<std::int64_t> answer) {
  const Example read = example_of("Model", self.trained, {text, ids, example, image, answer});
  const auto say = [&] {
    const NoGradient constant;
    const Batch batch = self.trained.batch_of(read);
    return said_by(self.trained.model(), input_of(batch), {.dtype = self.trained.model().dtype()});
  };
  Tensor said = said_as("Model", [&] { return stoppably(say); });
  return numpy_array(said.select(0, 0));
}

nb::dict parameters_of(const LoadedModel& self) {
  nb::dict all;
  for (const auto& [name, value] : self.trained.model().parameters()) {
    all[name.c_str()] = numpy_array(Tensor(value.value()));
  }
  return all;
}

std::int64_t layers_of(const Model& model, AttentionSite site) {
  const std::optional<SiteScope> scope = model.scope_of(site);
  return scope ? scope->layers : 0;
}

}  // namespace

void add_model(nb::module_& module) {
  module.def("model_names", &trained_model_names);
  nb::class_<LoadedModel>(module, "Model")
      .def_static("open", &opened, nb::arg("name"), nb::arg("dtype") = "f32")
      .def_ro("name", &LoadedModel::name)
      .def_ro("path", &LoadedModel::path)
      .def_prop_ro("kind", [](const LoadedModel& self) { return std::string(name_of(self.trained.kind())); })
      .def_prop_ro("task", [](const LoadedModel& self) { return self.trained.task_name(); })
      .def_prop_ro("layers",
                   [](const LoadedModel& self) { return layers_of(self.trained.model(), AttentionSite::tokens); })
      .def_prop_ro(
          "config",
          [](const LoadedModel& self) {
            nb::dict words;
            for (const auto& [name, value] : self.trained.model().config()) words[name.c_str()] = value;
            return words;
          },
          nb::sig("def config(self) -> dict[str, str]"))
      .def_prop_ro("parameter_count", [](const LoadedModel& self) { return self.trained.model().parameter_count(); })
      .def("parameters", &parameters_of, nb::sig("def parameters(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def_prop_ro("tokenizer",
                   [](const SharedModel& self) {
                     return OwnedTokenizer{.owner = self, .tokenizer = &self->trained.tokenizer()};
                   })
      .def("call", &call_of, nb::arg("text"), nb::arg("ids").none(), nb::arg("example"), nb::arg("image").none(),
           nb::arg("answer"),
           nb::sig("def call(self, text: str | None, ids: object | None, example: int | None, image: object | None, "
                   "answer: int | None) -> numpy.typing.NDArray[typing.Any]"));
}

}  // namespace qkv::python
