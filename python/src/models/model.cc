#include "../arrays.h"
#include "../said_as.h"
#include "fields.h"
#include "models.h"
#include "qkv/api/texts.h"
#include "qkv/model/match.h"
#include "reading.h"
#include "tokenizer.h"

namespace qkv::python {
namespace {

void warn(const std::string& what) {
  if (PyErr_WarnEx(PyExc_UserWarning, what.c_str(), 1) != 0) throw nb::python_error();
}

void say_cautions(const std::string& name, const Model& model) {
  for (const std::string& what : model.cautions()) warn(name + ": " + what);
}

std::shared_ptr<LoadedModel> opened(const std::string& name) {
  const std::string path = trained_model_path(name);
  auto loaded = stoppably([&] {
    return std::make_shared<LoadedModel>(LoadedModel{.name = name, .path = path, .trained = TrainedModel::read(path)});
  });
  say_cautions(name, loaded->trained.model());
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

const Fields<EmbedRequest>& embed_arguments() {
  static const auto kFields = without(embed_fields(), {"model", "text", "file", "whole_file", "separator"});
  return kFields;
}

// As `qkv embed`.
nb::object embedded(const LoadedModel& self, const std::vector<std::string>& texts, const Given& given) {
  const auto fields = embed_arguments().infos();
  const EmbedRequest request = request_of("embed", embed_arguments(), given);
  EmbeddedTexts made = said_in_python(
      "embed", fields, [&] { return stoppably([&] { return embed(request, self.trained, self.path, texts); }); });
  for (const std::string& what : made.cautions) warn(self.name + ": " + what);
  if (made.is_default_prompt) {
    warn(self.name + ": its default prompt \"" + made.prompt + "\" stands before each text; prompt=\"\" leaves it out");
  }
  if (made.cut > 0) {
    warn(self.name + ": " + std::to_string(made.cut) + " of " + std::to_string(texts.size()) +
         " texts longer than the model's " + std::to_string(*made.longest) + " tokens were cut");
  }
  return numpy_array(std::move(made.rows));
}

nb::tuple matched(const LoadedModel& self, const nb::list& images, const std::vector<std::string>& texts) {
  std::vector<Tensor> pictures;
  for (nb::handle image : images) pictures.push_back(tensor_of(image, {"match", "images"}));
  const auto hold = [&] { return match_pairs(self.trained, pictures, texts); };
  PairMatch match = said_as("match", [&] { return stoppably(hold); }, {{"pictures", "images"}});
  return nb::make_tuple(numpy_array(std::move(match.images)), numpy_array(std::move(match.texts)),
                        numpy_array(std::move(match.cosines)), numpy_array(std::move(match.scores)),
                        numpy_array(std::move(match.probabilities)));
}

// (place, [(piece, probability)]) of each gap.
using Gap = std::pair<std::int64_t, std::vector<std::pair<std::string, double>>>;

std::vector<Gap> filled(const LoadedModel& self, const std::string& text, std::int64_t count) {
  Fields<FillRequest> fields = fill_fields();
  const std::vector<FilledMask> masks = said_in_python("fill", fields.infos(), [&] {
    static_cast<void>(checked_value(fields.info("count"), count, std::to_string(count)));
    return stoppably([&] { return fill_gaps(self.trained, text, count); });
  });
  std::vector<Gap> gaps;
  for (const FilledMask& mask : masks) {
    Gap& gap = gaps.emplace_back(mask.place, std::vector<std::pair<std::string, double>>{});
    for (const MaskFilling& filling : mask.fillings) {
      gap.second.emplace_back(shown_token(self.trained.tokenizer(), filling.token), filling.probability);
    }
  }
  return gaps;
}

std::int64_t layers_of(const Model& model, AttentionSite site) {
  const std::optional<SiteScope> scope = model.scope_of(site);
  return scope ? scope->layers : 0;
}

}  // namespace

void add_model(nb::module_& module) {
  tell_arguments("embed", embed_arguments().infos());
  module.def("model_names", &trained_model_names);
  nb::class_<LoadedModel>(module, "Model")
      .def_static("open", &opened, nb::arg("name"))
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
                   "answer: int | None) -> numpy.typing.NDArray[typing.Any]"))
      .def("embed", &embedded, nb::arg("texts"), nb::arg("given"),
           nb::sig("def embed(self, texts: collections.abc.Sequence[str], given: dict[str, object]) -> "
                   "numpy.typing.NDArray[numpy.float32]"))
      .def("match", &matched, nb::arg("images"), nb::arg("texts"),
           nb::sig("def match(self, images: list[typing.Any], texts: collections.abc.Sequence[str]) -> "
                   "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], "
                   "qkv._types.Float64Array, qkv._types.Float64Array, qkv._types.Float64Array]"))
      .def("fill", &filled, nb::arg("text"), nb::arg("count"));
}

}  // namespace qkv::python
