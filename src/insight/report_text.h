// Text in columns.
#pragma once

#include <string>

namespace qkv::insight {

/// In `width` columns of a terminal, on one line: with spaces behind it, or cut off with "…".
[[nodiscard]] std::string left_in(const std::string& text, int width);

/// Of each line.
[[nodiscard]] std::string without_trailing_spaces(const std::string& text);

}  // namespace qkv::insight
