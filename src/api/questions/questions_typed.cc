// The TypeScript types of all questions, and of what commands print.
#include <fmt/format.h>

#include "api/fields/field_json.h"
#include "api/replies/json_of.h"
#include "api/replies/reply_types.h"
#include "qkv/api/questions.h"

namespace qkv {
namespace {

using api_detail::Json;

std::string capitalised(std::string_view name) {
  std::string text;
  bool is_start = true;
  for (const char letter : name) {
    if (letter == '_') {
      is_start = true;
      continue;
    }
    text += is_start && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    is_start = false;
  }
  return text;
}

std::string type_of(const ReplyType& type) {
  using Kind = ReplyType::Kind;
  switch (type.kind) {
    case Kind::flag:
      return "boolean";
    case Kind::whole:
    case Kind::number:
      return "number";
    case Kind::text:
      return "string";
    case Kind::tensor:
      return "Tensor";
    case Kind::list:
      return type.of.front().kind == Kind::nullable ? fmt::format("({})[]", type_of(type.of.front()))
                                                    : type_of(type.of.front()) + "[]";
    case Kind::named:
      return fmt::format("Record<string, {}>", type_of(type.of.front()));
    case Kind::nullable:
      return type_of(type.of.front()) + " | null";
    case Kind::object:
      return type.name;
  }
  __builtin_unreachable();
}

std::string type_of(const FieldInfo& field) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return "boolean";
    case FieldType::whole:
    case FieldType::seed:
    case FieldType::number:
      return "number";
    case FieldType::wholes:
      return "number[]";
    case FieldType::size:
      return "number | string";
    case FieldType::text:
    case FieldType::texts:
      break;
  }
  std::string words;
  for (const std::string& word : field.words) words += (words.empty() ? "" : " | ") + Json(word).dump();
  if (words.empty()) words = "string";
  return field.type == FieldType::texts ? "(" + words + ")[]" : words;
}

std::string comment(std::string_view text) { return text.empty() ? "" : fmt::format("  /** {} */\n", text); }

std::string request_of(const Question& question) {
  std::string text = fmt::format("export interface {}Request {{\n", capitalised(question.name));
  for (const FieldInfo& field : question.fields) {
    text += comment(field.meaning) + fmt::format("  {}?: {};\n", field.name, type_of(field));
  }
  return text + "}\n\n";
}

// A page asks for the first form of a reply alone.
std::string reply_of(const Question& question) {
  if (question.is_of_pages) return type_of(question.replies.front().type);
  std::string text;
  for (const QuestionReply& reply : question.replies) text += (text.empty() ? "" : " | ") + type_of(reply.type);
  return text;
}

std::string object_of(const ReplyType& type) {
  std::string text = fmt::format("export interface {} {{\n", type.name);
  for (const ReplyMember& member : type.members) {
    text += comment(member.meaning) +
            fmt::format("  {}{}: {};\n", member.name, member.may_lack ? "?" : "", type_of(member.type));
  }
  return text + "}\n\n";
}

}  // namespace

std::string questions_as_typescript() {
  std::string text =
      "// Made by the build from the descriptions in src/api; not to be edited.\n"
      "import type { Tensor } from \"./tensor\";\n\n";
  std::vector<const ReplyType*> objects;
  for (const Question& question : questions()) {
    for (const QuestionReply& reply : question.replies) api_detail::collect_objects(reply.type, objects);
  }
  for (const ReplyType* object : objects) text += object_of(*object);
  std::string all = "export interface Questions {\n";
  Json fields = Json::object();
  Json examples = Json::object();
  for (const Question& question : questions()) {
    text += request_of(question);
    all += comment(question.meaning) + fmt::format("  {}: {{ request: {}Request; reply: {} }};\n", question.name,
                                                   capitalised(question.name), reply_of(question));
    if (!question.is_of_pages) continue;
    for (const FieldInfo& field : question.fields) fields[question.name].push_back(api_detail::json_of(field));
    for (const std::string& example : question.examples) examples[question.name].push_back(Json::parse(example));
  }
  text += all + "}\n\n";
  text +=
      "export interface Field {\n  name: string;\n  type: string;\n  form: string;\n  meaning: string;\n"
      "  example: string;\n  fallback?: string;\n  otherwise?: string;\n  least?: number;\n  above?: boolean;\n"
      "  most?: number;\n  below?: boolean;\n  words?: string[];\n  needs?: string[];\n  needs_one?: string[];\n"
      "  excludes?: string[];\n  reasons?: Record<string, string>;\n  beside?: { fields: string[]; needs_one: string[] "
      "}[];\n  one_of?: string[];\n}\n\n";
  text += fmt::format("export const fields: Partial<Record<keyof Questions, Field[]>> = {};\n\n", fields.dump(2));
  text += fmt::format("export const examples: {{ [Q in keyof Questions]?: Questions[Q][\"request\"][] }} = {};\n",
                      examples.dump(2));
  return text;
}

}  // namespace qkv
