// Fields of requests, described as JSON.
#pragma once

#include "qkv/view/field.h"
#include "view/json_of.h"

namespace qkv::view_detail {

/// {"name", "type", "form", "meaning"}, and "fallback", "least", "most", "words" where there are any.
[[nodiscard]] Json json_of(const FieldInfo& field);

}  // namespace qkv::view_detail
