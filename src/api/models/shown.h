// What a request shows a model, by the fields of every question that shows it something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fields/shared_fields.h"
#include "api/models/pass_bounds.h"
#include "qkv/api/field.h"
#include "qkv/api/texts.h"
#include "qkv/explain/model.h"
#include "qkv/model/shown.h"

namespace qkv::api_detail {

struct ShownFields {
  std::optional<std::string> text = std::nullopt;
  std::optional<std::int64_t> example = std::nullopt;
  std::string_view picture = {}, sound = {};
  const ChatRequest* talk = nullptr;     // whose message the text is
  std::string_view text_field = "text";  // where the text is from
};

/// Reads them. Throws of the field: InvalidArgument, and as picture_in(), sound_in() and conversation_in(); and where the
/// model's pass over what is shown costs more than may be, as require_pass().
[[nodiscard]] Shown shown_of(const TextModel& model, const ShownFields& fields, PassKeeps keeps);

/// The question of it, of a model that explanations call so.
[[nodiscard]] ModelQuestion question_about(const std::string& title, Shown shown);

/// What a patch or a pattern is from: `from_text`, or the same conversation, if it is one, with that as its last message.
/// Throws as shown_of() for the pass, of the field `from_text`.
[[nodiscard]] Shown other_shown_of(const TextModel& model, std::vector<ChatMessage> conversation,
                                   const std::string& from_text, PassKeeps keeps);

/// `chat`, `system`, `user` and `messages` of a question that looks at what a model reads.
[[nodiscard]] Fields<ChatRequest> looked_at_chat_fields(const std::string& group = "");
/// `picture`, `sound` and these, of a request that has all of them.
template <class Request>
void add_shown(Fields<Request>& fields, const std::string& group = "") {
  fields.add(&Request::picture, shared_field("picture", group));
  fields.add(&Request::sound, shared_field("sound", group));
  fields.add(&Request::talk, looked_at_chat_fields(group));
}
/// `chat` and `system` alone, of a question with many texts.
[[nodiscard]] Fields<ChatRequest> chat_fields_of_texts(const std::string& group = "");

/// Which of `text`, `example`, `picture`, `sound` and a conversation go together, and that `model` needs one of them or
/// of `others`.
void say_company_of_shown(FieldTable& fields, const std::vector<std::string>& others = {});

}  // namespace qkv::api_detail
