// The fields of a question about one place of a text, which the lens and changes ask.
#pragma once

#include <string>

#include "qkv/api/field.h"
#include "qkv/api/lens.h"

namespace qkv::api_detail {

/// `text` or `example`.
[[nodiscard]] Fields<TextQuestion> asked_text_fields();
/// `query`, `token` and `against`.
[[nodiscard]] Fields<TextQuestion> asked_place_fields(const std::string& group = "");

}  // namespace qkv::api_detail
