#include "qkv/api/lens.h"

#include "api/fields/shared_fields.h"
#include "api/lens/asked_text.h"
#include "api/models/pass_bounds.h"
#include "qkv/api/models.h"

namespace qkv {
namespace api_detail {

Fields<TextQuestion> asked_text_fields() {
  Fields<TextQuestion> fields;
  fields.add(&TextQuestion::text, shared_field("text"));
  fields.add(&TextQuestion::example, shared_field("example"));
  fields.info("text").one_of = {"example"};
  fields.tell_arguments({{"text", {"ids"}}, {"example", {"ids"}}});
  return fields;
}

Fields<TextQuestion> asked_place_fields(const std::string& group) {
  Fields<TextQuestion> fields;
  const auto token = [&](const char* name, std::optional<std::string> TextQuestion::* value, const char* meaning) {
    fields.add(value, {.name = name, .form = "TOKEN", .meaning = meaning, .group = group});
  };
  token("query", &TextQuestion::query, "A token or its number");
  token("token", &TextQuestion::token, "The answer");
  token("against", &TextQuestion::against, "Its contrast: the difference of the two is looked at");
  fields.give_otherwise({{"query", "the last that is asked"}, {"token", "the expected token, or the likeliest"}});
  fields.give_examples({{"query", "3"}, {"token", "b"}, {"against", "x"}});
  return fields;
}

}  // namespace api_detail

const Fields<LensRequest>& lens_fields() {
  static const Fields<LensRequest> kFields = [] {
    Fields<LensRequest> fields;
    fields.add(&LensRequest::model, api_detail::shared_field("model"));
    fields.info("model").required = true;
    fields.add(&LensRequest::of, api_detail::asked_text_fields());
    fields.add(&LensRequest::of, api_detail::asked_place_fields());
    return fields;
  }();
  return kFields;
}

LensReport found_lens(const LensRequest& request, const Saying& saying) {
  const OpenedModel model = open_model(request.model, saying);
  constexpr auto kKept = api_detail::PassKeeps::layers_and_scores;
  if (request.of.text) api_detail::require_pass("text", *model, *request.of.text, kKept);
  LensReport report = lens_report(*model, request.of);
  if (request.of.text) say_outside(*model, *request.of.text, saying);
  return report;
}

LensFigures answer(const LensRequest& request, const Saying& saying) {
  return lens_figures(found_lens(request, saying), request.model);
}

}  // namespace qkv
