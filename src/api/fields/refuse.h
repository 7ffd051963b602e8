// A field whose value has no meaning.
#pragma once

#include <string>
#include <string_view>

#include "core/said_of.h"
#include "qkv/error.h"
#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

inline constexpr std::string_view kRequest = "request";

/// Throws InvalidArgument naming the field.
[[noreturn]] void refuse(std::string_view field, std::string_view expected, std::string_view got);

/// The field that an error of the library is about: `mask` or `bias` for one of a function that a word of these
/// languages stands for, else the argument's own name.
[[nodiscard]] std::string field_of(const InvalidArgument& error);

/// Runs `body`, which handles the value of this field: what the library says of its own argument is said of the field.
template <class Body>
auto of_field(std::string_view field, const Body& body) {
  return core::said_of(kRequest, field, body);
}

/// Runs `body`, whose arguments are called as the fields are: what the library says of one is said of the field that
/// `renamed` gives for its name, by default the same. A mask that cannot be read keeps its column.
template <class Body, class Renamed>
auto of_fields(const Body& body, const Renamed& renamed) {
  try {
    return body();
  } catch (const MaskSyntaxError&) {
    throw;
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    refuse(renamed(field_of(error)), error.expected(), error.got());
  }
}
template <class Body>
auto of_fields(const Body& body) {
  return of_fields(body, [](const std::string& argument) { return argument; });
}

/// The tensor at the path that this field gives.
[[nodiscard]] Tensor read_field(std::string_view field, const std::string& path);

}  // namespace qkv::api_detail
