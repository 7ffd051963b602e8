// A subcommand by its name.
#pragma once

#include <string>

#include "cli11_names.h"

namespace qkv::cli {

/// Throws CLI::ParseError, which suggests the command with the nearest name where there is one.
[[nodiscard]] const CLI::App& find_command(const CLI::App& app, const std::string& name);

}  // namespace qkv::cli
