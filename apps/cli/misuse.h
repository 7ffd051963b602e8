// A command line that has no meaning.
#pragma once

#include <stdexcept>
#include <string>

#include "qkv/error.h"

namespace qkv::cli {

/// What ends the command with exit code 2 and its text.
class Misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Misuse: "<option>: <message>".
[[noreturn]] void refuse(const std::string& option, const std::string& message);

/// Throws InvalidArgument naming the option, or a field, which is said as its option.
[[noreturn]] void misuse(const std::string& option, const std::string& expected, const std::string& got);

}  // namespace qkv::cli
