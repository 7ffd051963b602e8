// JSON of what several replies hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

using Json = nlohmann::ordered_json;

/// Two blanks a level, one line break at the end; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const Json& json);

[[nodiscard]] Json json_of(const Shape& shape);

}  // namespace qkv::api_detail
