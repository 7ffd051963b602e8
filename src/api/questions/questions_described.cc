// All questions with their fields and replies, as JSON and as Markdown.
#include "api/fields/field_json.h"
#include "api/replies/json_of.h"
#include "api/replies/reply_types.h"
#include "qkv/api/questions.h"

namespace qkv {
namespace {

using api_detail::Json;

Json described(const ReplyType& object) {
  Json members = Json::array();
  for (const ReplyMember& member : object.members) {
    members.push_back(
        {{"name", member.name}, {"type", api_detail::type_in_words(member)}, {"meaning", member.meaning}});
  }
  return members;
}

Json described(const Question& question) {
  Json json{{"name", question.name},       {"meaning", question.meaning}, {"command", question.command},
            {"refusal", question.refusal}, {"fields", Json::array()},     {"replies", Json::array()}};
  for (const FieldInfo& field : question.fields) json["fields"].push_back(api_detail::json_of(field));
  std::vector<const ReplyType*> objects;
  for (const QuestionReply& reply : question.replies) {
    json["replies"].push_back({{"type", api_detail::type_in_words(reply.type)}, {"printed_by", reply.printed_by}});
    api_detail::collect_objects(reply.type, objects);
  }
  for (const ReplyType* object : objects) json["objects"][object->name] = described(*object);
  json["examples"] = Json::array();
  for (const std::string& example : question.examples) json["examples"].push_back(Json::parse(example));
  return json;
}

std::string reply_in_words(const QuestionReply& reply, const std::string& told_by) {
  const std::string by = reply.printed_by.empty() ? "" : " of `" + reply.printed_by + "`";
  const std::string form = reply.is_line ? ", a line for each text" : "";
  if (!told_by.empty()) return "The reply" + by + form + " is that of [" + told_by + "](#" + told_by + ").\n";
  const std::string list = reply.type.kind == ReplyType::Kind::list ? "a list of " : "";
  return "The reply" + by + form + ", " + list + members_as_markdown(reply.type);
}

// The question before this one whose reply is made of the same object; empty if there is none.
std::string told_before(const ReplyType& type, std::span<const Question> before) {
  for (const Question& question : before) {
    for (const QuestionReply& reply : question.replies) {
      if (api_detail::type_in_words(reply.type) == api_detail::type_in_words(type)) return question.name;
    }
  }
  return {};
}

// The question before this one that has most of its fields.
const Question* nearest_before(const Question& question, std::span<const Question> before) {
  constexpr std::size_t kFewest = 4;
  const Question* nearest = nullptr;
  std::size_t most = kFewest - 1;
  for (const Question& one : before) {
    const auto shared = told_already({.heading = one.name, .fields = one.fields}, question.fields);
    if (!shared || *shared <= most) continue;
    most = *shared;
    nearest = &one;
  }
  return nearest;
}

std::string fields_of(const Question& question, std::span<const Question> before) {
  if (question.fields.empty()) return "It has no fields.\n";
  const Question* nearest = nearest_before(question, before);
  if (nearest == nullptr) return fields_as_markdown(question.fields);
  return fields_as_markdown({.heading = nearest->name, .fields = nearest->fields}, question.fields);
}

std::string table_of(const Question& question, std::span<const Question> before) {
  std::string text = "### " + question.name + "\n\n" + question.meaning + "\n\n";
  if (!question.refusal.empty()) text += "Of the command and Python alone: " + question.refusal + ".\n\n";
  text += fields_of(question, before);
  for (const QuestionReply& reply : question.replies) {
    text += "\n" + reply_in_words(reply, told_before(reply.type, before));
  }
  return text;
}

}  // namespace

std::string questions_as_json() {
  Json json{{"questions", Json::array()}};
  for (const Question& question : questions()) json["questions"].push_back(described(question));
  return api_detail::text_of(json);
}

std::string questions_as_markdown() {
  std::string text;
  const std::span<const Question> all = questions();
  for (std::size_t n = 0; n < all.size(); ++n) text += (n == 0 ? "" : "\n") + table_of(all[n], all.first(n));
  return text;
}

}  // namespace qkv
