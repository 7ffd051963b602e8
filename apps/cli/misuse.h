// An option whose value has no meaning.
#pragma once

#include <string>

#include "qkv/error.h"

namespace qkv::cli {

/// Throws what ends the command with exit code 2 and "<option>: <message>".
[[noreturn]] void refuse(const std::string& option, const std::string& message);

/// The same with "<option>: expected <expected>, got <got>".
[[noreturn]] void misuse(const std::string& option, const std::string& expected, const std::string& got);

/// Runs `body`, which handles the value of this option: what the library says of its own function and argument is said
/// of the option.
template <class Body>
auto of_option(const std::string& option, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    misuse(option, error.expected(), error.got());
  }
}

}  // namespace qkv::cli
