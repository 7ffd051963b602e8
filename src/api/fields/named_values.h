// Fields by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "qkv/api/field.h"

namespace qkv::api_detail {

/// Throws NotThere, with the nearest name, if there is no such field.
[[nodiscard]] std::size_t index_of_field(std::span<const FieldInfo> fields, const std::string& name);

}  // namespace qkv::api_detail
