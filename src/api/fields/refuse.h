// A field whose value has no meaning.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "core/said_of.h"
#include "qkv/error.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

inline constexpr std::string_view kRequest = "request";

/// Throws InvalidArgument naming the field.
[[noreturn]] void refuse(std::string_view field, std::string_view expected, std::string_view got);

/// Runs `body`, which handles the value of this field: what the library says of its own argument is said of the field.
template <class Body>
auto of_field(std::string_view field, const Body& body) {
  return core::said_of(kRequest, field, body);
}

/// Throws the error that is being handled again, said of this field: see of_path().
[[noreturn]] void rethrow_of_path(std::string_view field);

/// Runs `body`, which opens, reads or writes what this field names: an Error becomes NotThere of the field, an
/// InvalidArgument of the path one of "request" that names the field; others stay as they are. The library cannot know
/// the field: a model's name leads to a path of its own, and two fields may name one file.
template <class Body>
auto of_path(std::string_view field, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    rethrow_of_path(field);
  }
}

/// Runs `body`, which hands texts to the library one after the other: what it says of one, as "texts[3]", is said of
/// the place that `place_of` gives for it, if any.
template <class PlaceOf, class Body>
auto of_places(const PlaceOf& place_of, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    const std::optional<std::string> place = place_of(error.argument());
    if (!place) throw;
    refuse(*place, error.expected(), error.got());
  }
}

/// Throws NotThere, saying that memory ended for `what`, which this field asks for.
[[noreturn]] void refuse_memory(std::string_view field, std::string_view what);

/// Runs `body`, which makes what this field asks for, as large as it says; where memory ends, says so of the field.
template <class Body>
auto with_memory_for(std::string_view field, std::string_view what, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    refuse_memory(field, what);
  }
}

/// The tensor at the path that this field gives.
[[nodiscard]] Tensor read_field(std::string_view field, const std::string& path);

}  // namespace qkv::api_detail
