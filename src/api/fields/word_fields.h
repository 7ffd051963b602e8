// Fields whose words are a closed set of the library's, each declared once.
#pragma once

#include <string>

#include "qkv/api/field.h"

namespace qkv::api_detail {

/// `positions`, of a model.
[[nodiscard]] FieldInfo positions_field(const std::string& group = "");
/// `site`: one that the model has, cross-attention by default.
[[nodiscard]] FieldInfo site_field(const std::string& group = "");
/// `model`, a kind of them.
[[nodiscard]] FieldInfo model_kind_field(const std::string& group = "");

}  // namespace qkv::api_detail
