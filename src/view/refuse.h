// A field whose value has no meaning.
#pragma once

#include <string>
#include <string_view>

#include "core/said_of.h"
#include "qkv/tensor.h"

namespace qkv::view_detail {

inline constexpr std::string_view kRequest = "request";

/// Throws InvalidArgument naming the field.
[[noreturn]] void refuse(std::string_view field, std::string_view expected, std::string_view got);

/// Runs `body`, which handles the value of this field: what the library says of its own argument is said of the field.
template <class Body>
auto of_field(std::string_view field, const Body& body) {
  return core::said_of(kRequest, field, body);
}

/// The tensor at the path that this field gives.
[[nodiscard]] Tensor read_field(std::string_view field, const std::string& path);

}  // namespace qkv::view_detail
