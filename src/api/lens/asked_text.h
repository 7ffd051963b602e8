// The fields of a question about one place of a text, which the lens and changes ask.
#pragma once

#include <string>
#include <utility>

#include "api/models/shown.h"
#include "qkv/api/field.h"
#include "qkv/api/lens.h"

namespace qkv::api_detail {

/// `text` or `example`.
[[nodiscard]] Fields<TextQuestion> asked_text_fields();
/// The question with what `of.text`, or the picture, the sound or the conversation of the request, shows the model.
template <class Request>
[[nodiscard]] TextQuestion question_shown(const TextModel& model, const Request& request) {
  Shown shown = shown_of(model,
                         {.text = request.of.text,
                          .example = request.of.example,
                          .picture = request.picture,
                          .sound = request.sound,
                          .talk = &request.talk},
                         PassKeeps::layers_and_scores);
  TextQuestion question = request.of;
  question.text = std::move(shown.text);
  question.messages = std::move(shown.messages);
  question.picture = std::move(shown.picture);
  question.sound = std::move(shown.sound);
  return question;
}
/// `query`, `token` and `against`.
[[nodiscard]] Fields<TextQuestion> asked_place_fields(const std::string& group = "");

}  // namespace qkv::api_detail
