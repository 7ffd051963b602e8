// An error of a function that was called, named after the function and the argument of its caller.
#pragma once

#include <string_view>

#include "qkv/error.h"

namespace qkv::core {

/// Runs `body`. An InvalidArgument that it throws is thrown again with this function and argument; expected and got
/// stay. One of threads() stays as it is, since its value comes from the environment.
template <class Body>
auto said_of(std::string_view function, std::string_view argument, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    throw InvalidArgument(function, argument, error.expected(), error.got());
  }
}

}  // namespace qkv::core
