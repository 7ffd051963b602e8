// Several words in one phrase.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace qkv::api_detail {

/// "a, b or c", where `last` is "or".
[[nodiscard]] std::string listed(std::span<const std::string> words, std::string_view last);

}  // namespace qkv::api_detail
