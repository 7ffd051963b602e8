// What a model says of texts and pictures: generate, embed, fill and match.
#include "qkv/api/texts.h"

#include "../arrays.h"
#include "asking.h"
#include "python_writer.h"
#include "qkv/api/match.h"

namespace qkv::python {
namespace {

const Asking<GenerateRequest>& generate_question() {
  static const Asking<GenerateRequest> kOne("generate", generate_fields(), {"model", "text", "texts"}, {"samples"},
                                            {{"text", "prompt"}, {"texts", "prompt"}});
  return kOne;
}

const Asking<EmbedRequest>& embed_question() {
  static const Asking<EmbedRequest> kOne("embed", embed_fields(), {"model", "texts"},
                                         {"text", "file", "whole_file", "separator"});
  return kOne;
}

const Asking<FillRequest>& fill_question() {
  static const Asking<FillRequest> kOne("fill", fill_fields(), {"model", "text", "count"});
  return kOne;
}

const Asking<MatchRequest>& match_question() {
  static const Asking<MatchRequest> kOne("match", match_fields(), {"model", "images", "captions"},
                                         {"file", "maps", "numbers"}, {{"captions", "texts"}});
  return kOne;
}

// (text, tokens, end) of each prompt.
using Written = std::tuple<std::string, std::vector<std::int32_t>, std::string>;

std::vector<Written> written_by(const SharedModel& model, const Given& placed, const Given& given,
                                const nb::object& said) {
  decltype(WriteOptions::said) tell;
  if (!said.is_none()) {
    tell = [&](std::int64_t text, std::string_view part) {
      const nb::gil_scoped_acquire gil;
      said(text, std::string(part));
    };
  }
  const auto write = [&](const GenerateRequest& request, const qkv::Given& all) {
    return stoppably([&] { return answer(request, all, tell); });
  };
  return generate_question().answer(model, placed, given, [&](const GenerateRequest& request, const qkv::Given& all) {
    const std::vector<GenerateFigures> figures = write(request, all);
    for (const std::string& what : figures.front().cautions) Saying().careful(what);
    std::vector<Written> texts;
    for (const GenerateFigures& one : figures) texts.emplace_back(one.text, one.tokens, one.end);
    return texts;
  });
}

nb::object embedded_by(const SharedModel& model, const Given& placed, const Given& given) {
  return embed_question().answer(model, placed, given, [](const EmbedRequest& request, const qkv::Given& /*all*/) {
    EmbedReply reply = stoppably([&] { return embed(request, Saying()); });
    return numpy_array(std::move(reply.embedded.rows));
  });
}

nb::object filled_by(const SharedModel& model, const Given& placed) {
  return fill_question().answer(model, placed, Given(), [](const FillRequest& request, const qkv::Given& /*all*/) {
    return object_of(any_reply(stoppably([&] { return answer(request); })));
  });
}

nb::tuple matched_by(const SharedModel& model, const nb::list& images, const Given& placed) {
  std::vector<Tensor> pictures;
  for (nb::handle image : images) pictures.push_back(tensor_of(image, {"match", "images"}));
  return match_question().answer(model, placed, Given(), [&](const MatchRequest& request, const qkv::Given& /*all*/) {
    PairMatch match = stoppably([&] { return found_match(request, std::move(pictures)).match; });
    return nb::make_tuple(numpy_array(std::move(match.images)), numpy_array(std::move(match.texts)),
                          numpy_array(std::move(match.cosines)), numpy_array(std::move(match.scores)),
                          numpy_array(std::move(match.probabilities)));
  });
}

}  // namespace

void add_texts(nb::module_& module) {
  static_cast<void>(generate_question());
  static_cast<void>(embed_question());
  static_cast<void>(fill_question());
  static_cast<void>(match_question());
  const auto of_model = nb::arg("model");
  const auto placed = nb::arg("placed");
  const auto given = nb::arg("given");
  module.def("generate", &written_by, of_model, placed, given, nb::arg("said").none());
  module.def("embed", &embedded_by, of_model, placed, given,
             nb::sig("def embed(model: Model, placed: dict[str, object], given: dict[str, object]) -> "
                     "numpy.typing.NDArray[numpy.float32]"));
  module.def("fill", &filled_by, of_model, placed,
             nb::sig("def fill(model: Model, placed: dict[str, object]) -> dict[str, typing.Any]"));
  module.def("match", &matched_by, of_model, nb::arg("images"), placed,
             nb::sig("def match(model: Model, images: list[typing.Any], placed: dict[str, object]) -> "
                     "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], "
                     "qkv._types.Float64Array, qkv._types.Float64Array, qkv._types.Float64Array]"));
}

}  // namespace qkv::python
