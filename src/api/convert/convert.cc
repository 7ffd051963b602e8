#include "qkv/api/convert.h"

#include <algorithm>

#include "qkv/model/box.h"

namespace qkv {

const Fields<ConvertRequest>& convert_fields() {
  using R = ConvertRequest;
  static const Fields<R> kFields = [] {
    Fields<R> fields;
    fields.add(&R::model, {.name = "model",
                           .meaning = "A folder, or a GGUF or safetensors file; the box's models are such files",
                           .required = true});
    fields.add(&R::out, {.name = "out",
                         .meaning = "What is written: from a folder or GGUF FILE.gguf, or a folder by any other name; "
                                    "from a safetensors file FILE.safetensors",
                         .required = true});
    fields.add(&R::type, {.name = "type",
                          .form = "TYPE",
                          .meaning = "Of the weights; required where `out` has the form that `model` has",
                          .words = convert_types(),
                          .otherwise = "as they are, or f32 for quantised ones that go into a folder"});
    fields.add(&R::overwrite, {.name = "overwrite", .meaning = "Replace a file that is there"});
    fields.give_examples({{"model", "smollm2"}, {"out", "smollm2-q8_0.gguf"}, {"type", "q8_0"}});
    return fields;
  }();
  return kFields;
}

ConvertFigures convert(const ConvertRequest& request,
                       const std::function<void(std::string_view, std::int64_t, std::int64_t)>& progress) {
  const std::string model = trained_model_path(request.model);
  Conversion done =
      convert_model(model, request.out, {.type = request.type, .overwrite = request.overwrite, .progress = progress});
  ConvertFigures figures{.model = request.model,
                         .out = request.out,
                         .form = std::move(done.form),
                         .bytes = done.bytes,
                         .worst = {},
                         .tensors = std::move(done.tensors),
                         .cautions = std::move(done.cautions)};
  if (const auto worst = std::ranges::max_element(figures.tensors, {}, &ConvertedTensor::error);
      worst != figures.tensors.end()) {
    figures.worst = worst->name;
    figures.worst_error = worst->error;
  }
  return figures;
}

ConvertFigures answer(const ConvertRequest& request) { return convert(request, {}); }

}  // namespace qkv
