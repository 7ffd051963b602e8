// What `qkv help` says: lines of at most 80 columns, or of a narrower terminal; what an option takes on the left, what
// it does on the right.
#pragma once

#include <cstdint>
#include <string>

#include "command.h"

namespace qkv::cli {

/// Of one command, or of a family with its commands.
[[nodiscard]] std::string help_text(const Commands& commands, const Command& command);

/// Of qkv itself, with all commands by what one wants.
[[nodiscard]] std::string help_text(const Commands& commands);

/// Which options a table has: those alone that are no fields of the command's question, or are otherwise here, as
/// docs/api.md has them.
enum class OptionsTold : std::uint8_t { all, own };

/// All commands with a table of their options each.
[[nodiscard]] std::string commands_as_markdown(const Commands& commands, OptionsTold told);

}  // namespace qkv::cli
