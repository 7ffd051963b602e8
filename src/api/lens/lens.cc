#include "qkv/api/lens.h"

#include "api/fields/shared_fields.h"
#include "api/lens/asked_text.h"
#include "api/models/models.h"
#include "qkv/api/models.h"

namespace qkv {
namespace api_detail {

Fields<TextQuestion> asked_text_fields() {
  Fields<TextQuestion> fields;
  fields.add(&TextQuestion::text, shared_field("text"));
  fields.add(&TextQuestion::example, shared_field("example"));
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
    fields.add(&LensRequest::dtype, api_detail::numbers_field());
    fields.add(&LensRequest::of, api_detail::asked_text_fields());
    api_detail::add_shown(fields);
    api_detail::say_company_of_shown(fields);
    fields.add(&LensRequest::of, api_detail::asked_place_fields());
    return fields;
  }();
  return kFields;
}

LensReport found_lens(const LensRequest& request, const Saying& saying) {
  const OpenedModel model = api_detail::open_in_dtype(request.model, request.dtype, saying);
  LensReport report = lens_report(*model, api_detail::question_shown(*model, request));
  if (request.of.text && !request.talk.chat) say_outside(*model, *request.of.text, saying);
  return report;
}

LensFigures answer(const LensRequest& request, const Saying& saying) {
  return lens_figures(found_lens(request, saying), request.model);
}

}  // namespace qkv
