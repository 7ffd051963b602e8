// What a model says of texts and pictures: generate, embed, fill and match.
#include "qkv/api/texts.h"

#include "../arrays.h"
#include "asking.h"
#include "python_writer.h"
#include "qkv/api/match.h"

namespace qkv::python {
namespace {

// (text, tokens, end) of each prompt.
using Written = std::tuple<std::string, std::vector<std::int32_t>, std::string>;

std::vector<Written> written_for(const GenerateRequest& request, const qkv::Given& given, const Saying& saying,
                                 const nb::object& said) {
  decltype(WriteOptions::said) tell;
  if (!said.is_none()) {
    tell = [&](std::int64_t text, std::string_view part) {
      const nb::gil_scoped_acquire gil;
      said(text, std::string(part));
    };
  }
  const std::vector<GenerateFigures> figures = stoppably([&] { return answer(request, given, tell); });
  for (const std::string& what : figures.front().notes) saying.careful(what);
  for (const std::string& what : figures.front().cautions) saying.careful(what);
  std::vector<Written> texts;
  for (const GenerateFigures& one : figures) texts.emplace_back(one.text, one.tokens, one.end);
  return texts;
}

nb::tuple arrays_of(PairMatch match) {
  return nb::make_tuple(numpy_array(std::move(match.images)), numpy_array(std::move(match.texts)),
                        numpy_array(std::move(match.cosines)), numpy_array(std::move(match.scores)),
                        numpy_array(std::move(match.probabilities)));
}

void add_generate(nb::module_& module) {
  using R = GenerateRequest;
  static const Asking<R> kOne("generate", generate_fields(), {"model", "text", "texts"},
                              {"samples", "file", "whole_file", "separator"},
                              {{"text", "prompt"}, {"texts", "prompt"}});
  module.def(
      kOne.name(),
      [](const SharedModel& model, const Given& placed, const Given& given, const nb::object& said) {
        return kOne.answer(model, placed, given, [&](const R& request, const qkv::Given& all, const Saying& saying) {
          return written_for(request, all, saying, said);
        });
      },
      nb::arg("model"), nb::arg("placed"), nb::arg("given"), nb::arg("said").none());
}

void add_embed(nb::module_& module) {
  using R = EmbedRequest;
  static const Asking<R> kOne("embed", embed_fields(), {"model", "texts"}, {"text", "file", "whole_file", "separator"});
  module.def(
      kOne.name(),
      [](const SharedModel& model, const Given& placed, const Given& given) {
        return kOne.answer(model, placed, given, [](const R& request, const qkv::Given& /*all*/, const Saying& saying) {
          EmbedReply reply = stoppably([&] { return embed(request, saying); });
          return numpy_array(std::move(reply.embedded.rows));
        });
      },
      nb::arg("model"), nb::arg("placed"), nb::arg("given"),
      nb::sig("def embed(model: Model, placed: dict[str, object], given: dict[str, object]) -> "
              "numpy.typing.NDArray[numpy.float32]"));
}

void add_fill(nb::module_& module) {
  using R = FillRequest;
  static const Asking<R> kOne("fill", fill_fields(), {"model", "text", "count"});
  module.def(
      kOne.name(),
      [](const SharedModel& model, const Given& placed) {
        return kOne.answer(model, placed, Given(),
                           [](const R& request, const qkv::Given& /*all*/, const Saying& saying) {
                             return object_of(any_reply(stoppably([&] { return answer(request, saying); })));
                           });
      },
      nb::arg("model"), nb::arg("placed"),
      nb::sig("def fill(model: Model, placed: dict[str, object]) -> dict[str, typing.Any]"));
}

void add_match(nb::module_& module) {
  using R = MatchRequest;
  static const Asking<R> kOne("match", match_fields(), {"model", "images", "captions"}, {"file", "maps", "numbers"},
                              {{"captions", "texts"}});
  module.def(
      kOne.name(),
      [](const SharedModel& model, const nb::list& images, const Given& placed) {
        std::vector<Tensor> pictures;
        for (nb::handle image : images) pictures.push_back(tensor_of(image, {"match", "images"}));
        return kOne.answer(
            model, placed, Given(), [&](const R& request, const qkv::Given& /*all*/, const Saying& saying) {
              return arrays_of(stoppably([&] { return found_match(request, std::move(pictures), saying).match; }));
            });
      },
      nb::arg("model"), nb::arg("images"), nb::arg("placed"),
      nb::sig("def match(model: Model, images: list[typing.Any], placed: dict[str, object]) -> "
              "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], "
              "qkv._types.Float64Array, qkv._types.Float64Array, qkv._types.Float64Array]"));
}

}  // namespace

void add_texts(nb::module_& module) {
  add_generate(module);
  add_embed(module);
  add_fill(module);
  add_match(module);
}

}  // namespace qkv::python
