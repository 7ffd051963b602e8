// Fields of requests, described as JSON.
#pragma once

#include "api/replies/json_of.h"
#include "qkv/api/field.h"

namespace qkv::api_detail {

/// {"name", "type", "form", "meaning", "example"}, and "fallback", "least", "most", "words" where there are any.
[[nodiscard]] Json json_of(const FieldInfo& field);

}  // namespace qkv::api_detail
