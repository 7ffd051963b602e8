// What commands answer, apart from how they print it, for whoever asks by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"

namespace qkv {

/// The question of one command: its reply is what the command prints as JSON; of a command that prints a line for each
/// text, a list of these.
struct CommandQuestion {
  std::string name;  // "cost", "bench positions"
  std::span<const FieldInfo> fields;
  std::function<AnyReply(const FieldValues&)> answer;
  std::vector<std::string> examples;  // requests, as JSON
};

[[nodiscard]] std::span<const CommandQuestion> command_questions();

}  // namespace qkv
