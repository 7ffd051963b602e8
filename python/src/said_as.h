// What the library says of its functions and arguments, in Python's names.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "qkv/error.h"

namespace qkv::python {

/// Runs `call`, which this function of Python makes of the library: what that says of an argument of any function is
/// said of this one's, under the second of two `names`; of threads() it stays, whose value is of the environment.
template <class Call>
auto said_as(std::string_view function, const Call& call,
             std::initializer_list<std::pair<std::string_view, std::string_view>> names = {}) {
  try {
    return call();
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    std::string argument = error.argument();
    const std::string name = argument.substr(0, argument.find('['));
    for (const auto& [library, python] : names) {
      if (library == name) argument.replace(0, name.size(), python);
    }
    throw InvalidArgument(function, argument, error.expected(), error.got());
  }
}

}  // namespace qkv::python
