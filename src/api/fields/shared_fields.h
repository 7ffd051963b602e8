// Fields that several questions have, each said once: a question adds its own default, example or narrower bounds.
#pragma once

#include <string>
#include <string_view>

#include "qkv/api/field.h"

namespace qkv::api_detail {

/// The field of this name: its form, meaning, bounds, and where all questions have them its default and example.
/// Throws std::logic_error for a name that is none of them.
[[nodiscard]] FieldInfo shared_field(std::string_view name, const std::string& group = "");

}  // namespace qkv::api_detail
