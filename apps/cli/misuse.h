// An option whose value has no meaning.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace qkv::cli {

/// Throws what ends the command with exit code 2 and "<option>: expected <expected>, got <got>".
[[noreturn]] inline void misuse(const std::string& option, const std::string& expected, const std::string& got) {
  throw CLI::ParseError(option + ": expected " + expected + ", got " + got, CLI::ExitCodes::ValidationError);
}

}  // namespace qkv::cli
