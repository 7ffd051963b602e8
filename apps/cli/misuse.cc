#include "misuse.h"

#include <CLI/Error.hpp>

namespace qkv::cli {

void refuse(const std::string& option, const std::string& message) {
  throw CLI::ParseError(option + ": " + message, CLI::ExitCodes::ValidationError);
}

void misuse(const std::string& option, const std::string& expected, const std::string& got) {
  refuse(option, "expected " + expected + ", got " + (got.empty() ? "\"\"" : got));
}

}  // namespace qkv::cli
