#include "models.h"
#include "qkv/model/write_text.h"

namespace qkv::python {
namespace {

// As generate() of Python has them.
struct Draw {
  std::int64_t tokens;
  double temperature;
  std::int64_t top_k;
  double top_p;
  double min_p;
  double repetition_penalty;
  std::uint64_t seed;
  std::int64_t beams;
  double length_penalty;
  std::string dtype;
};

GenerateOptions options_of(const Draw& draw, const Model& model) {
  require_between("generate", "tokens", draw.tokens, 0, kMostNewTokens);
  GenerateOptions options{.most = draw.tokens, .temperature = draw.temperature, .top_k = draw.top_k};
  options.top_p = draw.top_p;
  options.min_p = draw.min_p;
  options.repetition_penalty = draw.repetition_penalty;
  options.seed = draw.seed;
  options.beams = draw.beams;
  options.length_penalty = draw.length_penalty;
  if (draw.dtype != "f32" && draw.dtype != "bf16") {
    throw InvalidArgument("generate", "dtype", "\"f32\" or \"bf16\"", "\"" + draw.dtype + "\"");
  }
  if (model.dtype() != DType::f64) options.dtype = draw.dtype == "bf16" ? DType::bf16 : DType::f32;
  return options;
}

void say_what_is_left_out(const LoadedModel& self) {
  for (const std::string& word : unheeded_in_generation(self.path)) {
    const std::string text = self.name + ": its generation_config.json asks for what is not done here: " + word;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
  }
}

// (text, tokens, end) of each prompt.
using Written = std::tuple<std::string, std::vector<std::int32_t>, std::string>;

std::vector<Written> written_by(const LoadedModel& self, const std::vector<std::string>& prompts, const Draw& draw,
                                const std::vector<std::string>& stops, const nb::object& said) {
  WriteOptions options{.draw = options_of(draw, self.trained.model()), .stops = stops, .said = {}};
  if (!said.is_none()) {
    options.said = [&](std::int64_t text, std::string_view part) {
      const nb::gil_scoped_acquire gil;
      said(text, std::string(part));
    };
  }
  say_what_is_left_out(self);
  const std::vector<WrittenText> texts = stoppably([&] { return write_texts(self.trained, prompts, options); });
  std::vector<Written> all;
  for (const WrittenText& text : texts) all.emplace_back(text.text, text.tokens, std::string(name_of(text.end)));
  return all;
}

}  // namespace

void add_generate(nb::module_& module) {
  module.def(
      "generate",
      [](const LoadedModel& model, const std::vector<std::string>& prompts, std::int64_t tokens, double temperature,
         std::int64_t top_k, double top_p, double min_p, double repetition_penalty, std::uint64_t seed,
         std::int64_t beams, double length_penalty, const std::vector<std::string>& stops, const std::string& dtype,
         const nb::object& said) {
        return written_by(
            model, prompts,
            {tokens, temperature, top_k, top_p, min_p, repetition_penalty, seed, beams, length_penalty, dtype}, stops,
            said);
      },
      nb::arg("model"), nb::arg("prompts"), nb::arg("tokens"), nb::arg("temperature"), nb::arg("top_k"),
      nb::arg("top_p"), nb::arg("min_p"), nb::arg("repetition_penalty"), nb::arg("seed"), nb::arg("beams"),
      nb::arg("length_penalty"), nb::arg("stops"), nb::arg("dtype"), nb::arg("said").none());
}

}  // namespace qkv::python
