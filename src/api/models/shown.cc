#include "api/models/shown.h"

#include <utility>

#include "api/fields/refuse.h"
#include "api/models/seen_and_heard.h"
#include "qkv/model/sound_encoder.h"

namespace qkv::api_detail {
namespace {

// Of the conversation: the field that its last message is from.
std::string_view field_of_message(const ShownFields& fields) {
  if (fields.text) return fields.text_field;
  return fields.talk->user ? "user" : "messages";
}

void require_pass_of_messages(std::string_view field, const TextModel& model, const std::vector<ChatMessage>& messages,
                              PassKeeps keeps) {
  std::string all;
  for (const ChatMessage& message : messages) all += message.content + "\n";
  require_pass(field, model, all, keeps);
}

}  // namespace

Shown shown_of(const TextModel& model, const ShownFields& fields, PassKeeps keeps) {
  const bool hears = model.traits().reads_sound;
  Shown shown{.example = fields.example};
  if (fields.talk != nullptr && fields.talk->chat) {
    shown.messages = conversation_in(*fields.talk, fields.text);
    require_pass_of_messages(field_of_message(fields), model, shown.messages, keeps);
    return shown;
  }
  shown.text = fields.text;
  if (shown.text && !hears) require_pass(fields.text_field, model, *shown.text, keeps);
  if (!fields.picture.empty()) shown.picture = picture_in("picture", std::string(fields.picture));
  if (fields.sound.empty()) return shown;
  const LogMelOptions form = hears ? model.log_mel_options() : LogMelOptions();
  shown.sound = sound_in("sound", std::string(fields.sound), form.rate);
  if (hears) require_pass_of("sound", model, form.frames() / kFramesOfAPlace, keeps);
  return shown;
}

ModelQuestion question_about(const std::string& title, Shown shown) {
  return {.title = title,
          .text = std::move(shown.text),
          .picture = std::move(shown.picture),
          .sound = std::move(shown.sound),
          .example = shown.example,
          .messages = std::move(shown.messages)};
}

Shown other_shown_of(const TextModel& model, std::vector<ChatMessage> conversation, const std::string& from_text,
                     PassKeeps keeps) {
  if (conversation.empty()) {
    require_pass("from_text", model, from_text, keeps);
    return {.text = from_text};
  }
  conversation.back().content = from_text;
  require_pass_of_messages("from_text", model, conversation, keeps);
  return {.messages = std::move(conversation)};
}

Fields<ChatRequest> looked_at_chat_fields(const std::string& group) {
  Fields<ChatRequest> fields = chat_fields();
  for (const char* const name : {"chat", "system", "user", "messages"}) {
    if (!group.empty()) fields.info(name).group = group;
  }
  fields.info("chat").meaning = "The text is a message in the model's chat template";
  fields.info("chat").needs_one = {"text", "user", "messages"};
  fields.info("user").meaning = "The message, in place of a text";
  fields.exclude({"user"}, {"text"}, "the text is the message");
  fields.info("messages").meaning = R"(What was said before: JSON, [{"role": "user", "content": "Hello"}, ...])";
  return fields;
}

Fields<ChatRequest> chat_fields_of_texts(const std::string& group) {
  constexpr std::string_view kOfOne[] = {"user", "messages"};
  Fields<ChatRequest> fields = looked_at_chat_fields(group);
  fields.remove(kOfOne);
  fields.info("chat").meaning = "Each text is a message in the model's chat template";
  fields.info("chat").needs_one = {};
  return fields;
}

void say_company_of_shown(FieldTable& fields, const std::vector<std::string>& others) {
  constexpr const char* kOne = "a model reads one of them";
  fields.exclude({"example"}, {"text"}, kOne);
  fields.exclude({"picture"}, {"text", "example"}, kOne);
  fields.exclude({"sound"}, {"text", "example", "picture"}, kOne);
  fields.exclude({"chat"}, {"example", "picture", "sound"}, "a conversation is text");
  std::vector<std::string>& needs = fields.info("model").needs_one;
  needs = {"text", "example", "picture", "sound", "user", "messages"};
  needs.insert(needs.end(), others.begin(), others.end());
}

}  // namespace qkv::api_detail
