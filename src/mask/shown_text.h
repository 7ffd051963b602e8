// A caller's text as it appears in a message. Characters are code points; a byte that is not valid UTF-8 counts as one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qkv::mask_detail {

/// Bytes of the first character of a text that is not empty.
[[nodiscard]] std::size_t first_character(std::string_view text);
[[nodiscard]] std::size_t count_characters(std::string_view text);

/// "`windw`", cut short where it is long; control characters and stray bytes appear as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

/// Two indented lines: the part of the text around a column (1-based, in characters), and a caret under it.
[[nodiscard]] std::string pointed_at(std::string_view text, std::size_t column);

}  // namespace qkv::mask_detail
