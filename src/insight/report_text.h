// Text in columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qkv::insight {

/// In `width` columns of a terminal, on one line: with spaces behind it, or cut off with "…".
[[nodiscard]] std::string left_in(const std::string& text, int width);

/// "0", "1", … below `count`: labels of layers and heads.
[[nodiscard]] std::vector<std::string> numbers_to(std::int64_t count);

/// Of each line.
[[nodiscard]] std::string without_trailing_spaces(const std::string& text);

}  // namespace qkv::insight
