// A field whose value has no meaning.
#pragma once

#include <string>
#include <string_view>

#include "qkv/error.h"

namespace qkv::view_detail {

/// Throws InvalidArgument naming the field.
[[noreturn]] void refuse(std::string_view field, std::string_view expected, std::string_view got);

/// Throws InvalidArgument naming the field, with what an error says that the library throws of its own argument.
[[noreturn]] void refuse_as(std::string_view field, const InvalidArgument& error);

/// Runs `body`, which handles the value of this field: what the library says of its own argument is said of the field.
template <class Body>
auto of_field(std::string_view field, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    refuse_as(field, error);
  }
}

}  // namespace qkv::view_detail
