// Everything that can be asked, described once: by it the studio, its pages, Python and the documents know a question.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"

namespace qkv {

/// What an answer is made of. A question has one for each form that its fields may ask for.
struct QuestionReply {
  ReplyType type;
  std::string printed_by = {};  // "qkv explain --json"; empty of what only pages ask
  bool is_line = false;         // printed for each text, without blanks
};

/// One thing that can be asked.
struct Question {
  std::string name;     // "far_open", "bench_positions"
  std::string meaning;  // a sentence, which `qkv help` has, or two
  std::span<const FieldInfo> fields;
  std::vector<QuestionReply> replies;
  std::vector<std::string> examples;  // requests, as JSON
  bool is_of_pages = false;
  std::string command = {};  // that asks it: "bench positions"; empty of what only pages ask
  std::string refusal = {};  // what readers are told instead of an answer; empty: they are answered
};

/// Every question, in the order of docs/api.md.
[[nodiscard]] std::span<const Question> questions();

/// All of them as JSON: {"questions": [{"name", "meaning", "command", "refusal", "fields", "replies", "objects",
/// "examples"}, …]}.
[[nodiscard]] std::string questions_as_json();

/// The same as tables in Markdown, as docs/api.md has them.
[[nodiscard]] std::string questions_as_markdown();

/// Their types in TypeScript, with the fields and examples of those that only pages ask: messages.ts.
[[nodiscard]] std::string questions_as_typescript();

}  // namespace qkv
