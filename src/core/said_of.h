// What a call says of its own argument, said of the caller's.
#pragma once

#include <string_view>

#include "qkv/error.h"

namespace qkv::core {

/// Runs `body`. An InvalidArgument of any function and argument becomes one of these, with the same expected and got;
/// but that of threads(), whose value is of the environment.
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
