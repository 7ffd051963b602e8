// All questions with their fields and replies, as JSON and as Markdown.
#include "api/fields/field_json.h"
#include "api/replies/json_of.h"
#include "api/replies/reply_types.h"
#include "qkv/api/studio.h"

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
  Json json{{"name", question.name}, {"meaning", question.meaning}, {"fields", Json::array()}};
  for (const FieldInfo& field : question.fields) json["fields"].push_back(api_detail::json_of(field));
  json["reply"] = question.reply.name;
  std::vector<const ReplyType*> objects;
  api_detail::collect_objects(question.reply, objects);
  for (const ReplyType* object : objects) json["objects"][object->name] = described(*object);
  json["examples"] = Json::array();
  for (const std::string& example : question.examples) json["examples"].push_back(Json::parse(example));
  return json;
}

}  // namespace

std::string studio_as_json() {
  Json json{{"questions", Json::array()}};
  for (const Question& question : Studio::questions()) json["questions"].push_back(described(question));
  return api_detail::text_of(json);
}

std::string studio_as_markdown() {
  std::string text;
  for (const Question& question : Studio::questions()) {
    text += (text.empty() ? "### " : "\n### ") + question.name + "\n\n" + question.meaning + "\n\n";
    text += question.fields.empty() ? "It has no fields.\n" : fields_as_markdown(question.fields);
    text += "\nThe reply, " + members_as_markdown(question.reply);
  }
  return text;
}

}  // namespace qkv
