// Characters of UTF-8 text, and text in a field of the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qkv::picture {

/// Code points; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::u32string decode(std::string_view text);
[[nodiscard]] std::string encode(std::u32string_view points);

/// Columns of the terminal: 0, 1 or 2.
[[nodiscard]] int width_of(char32_t point);

enum class Side : std::uint8_t { left, centre, right };

/// `text` with spaces to `width` columns, set at `side`; text that is wider stays as it is.
[[nodiscard]] std::string padded(std::string_view text, int width, Side side);

}  // namespace qkv::picture
