#include "reading.h"

#include <limits>

#include "../said_as.h"
#include "fields.h"
#include "qkv/api/explain.h"
#include "qkv/explain/model.h"

namespace qkv::python {
namespace {

// Tokens that the model writes first: as the question `explain` has it.
void require_answer(std::string_view function, std::int64_t answer) {
  static const FieldInfo kField = Fields<ExplainRequest>(explain_fields()).info("answer");
  said_in_python({.name = std::string(function), .fields = {&kField, 1}},
                 [&] { static_cast<void>(checked_value(kField, answer, std::to_string(answer))); });
}

Example held_out(std::string_view function, const TextModel& model, std::int64_t n) {
  if (!model.has_examples()) {
    throw InvalidArgument(function, "example", "a text: this model's examples are not here", std::to_string(n));
  }
  return model.examples().example(Split::test, n);
}

Example of_ids(std::string_view function, const TextModel& model, nb::handle ids) {
  if (!model.traits().goes_on && !model.traits().fills) {
    throw InvalidArgument(function, "ids", "a decoder or an encoder, which read one text",
                          "a model of kind " + std::string(name_of(model.kind())));
  }
  Example example;
  example.tokens = token_ids_of(ids, {function, "ids"});
  if (example.tokens.empty()) throw InvalidArgument(function, "ids", "one or more", "none");
  example.labels.resize(example.tokens.size());
  example.scored.resize(example.tokens.size());
  return example;
}

Example of_text(std::string_view function, const TextModel& model, const std::string& text) {
  return said_as(function, [&] { return model.example_of(text); });
}

// Without a text a captioner writes its caption, and of two towers the picture stands alone.
Example of_image(std::string_view function, const TextModel& model, const ReadArguments& given) {
  const Tensor picture = tensor_of(given.image, {function, "image"});
  if (given.text) {
    Example example = of_text(function, model, *given.text);
    example.image = model.image_of(picture);
    return example;
  }
  ModelQuestion question;
  question.picture = picture;
  question.answer = given.answer;
  return shown_example(model, question).example;
}

}  // namespace

std::vector<std::int32_t> token_ids_of(nb::handle ids, const Argument& argument) {
  std::vector<std::int32_t> all;
  for (const std::int64_t id : whole_numbers_of(ids, argument)) {
    require_between(argument.function, argument.name, id, 0, std::numeric_limits<std::int32_t>::max());
    all.push_back(static_cast<std::int32_t>(id));
  }
  return all;
}

Example example_of(std::string_view function, const TextModel& model, const ReadArguments& given) {
  if (given.answer) require_answer(function, *given.answer);
  const bool has_image = !given.image.is_none();
  const int texts = (given.text ? 1 : 0) + (given.ids.is_none() ? 0 : 1) + (given.example ? 1 : 0);
  if (texts > 1 || (has_image && !given.text && texts > 0) || (texts == 0 && !has_image)) {
    throw InvalidArgument(function, "text", "one of text, ids and example, or an image",
                          texts == 0 ? "none" : "several");
  }
  if (has_image) return of_image(function, model, given);
  if (given.answer && !given.text) throw InvalidArgument(function, "answer", "a text before it", "none");
  if (given.example) return held_out(function, model, *given.example);
  if (!given.text) return of_ids(function, model, given.ids);
  Example example = of_text(function, model, *given.text);
  if (given.answer) model.answer(example, {.most = *given.answer});
  return example;
}

}  // namespace qkv::python
