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
