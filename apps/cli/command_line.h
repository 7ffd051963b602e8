// Reads the words behind a command's name.
#pragma once

#include <span>
#include <string>

#include "command.h"

namespace qkv::cli {

struct CommandLine {
  bool asks_for_help = false;  // -h or --help: nothing else was held to anything
  FieldValues values = {};     // in the order of the fields
};

/// Throws Misuse for an option that the command does not have, with the nearest, for words that are left over, for an
/// option twice that may stand once, and for one without its value; InvalidArgument naming the field as field_value()
/// and require_company() do.
[[nodiscard]] CommandLine read_command_line(const Command& command, std::span<const std::string> words);

/// Throws Misuse: `command` has no option `word`, but perhaps `meant`, or one of `names`, was meant.
[[noreturn]] void refuse_unknown_option(const std::string& command, std::span<const std::string> names,
                                        const std::string& word, const std::string& meant = "");

}  // namespace qkv::cli
