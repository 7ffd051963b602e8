// What each command prints as JSON.
#pragma once

#include <span>
#include <string>

#include "qkv/api/member.h"

namespace qkv {

struct CommandReply {
  std::string command;  // "qkv explain --json"
  ReplyType reply;
  bool is_line = false;  // for each text, without blanks
};

[[nodiscard]] std::span<const CommandReply> command_replies();

/// A chapter of their tables in Markdown, as docs/api.md has it.
[[nodiscard]] std::string command_replies_as_markdown();

}  // namespace qkv
