// Letters, digits and blanks of ASCII: <cctype> asks the program's locale, which may call other bytes letters.
#pragma once

#include <algorithm>
#include <string>

namespace qkv::core {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] constexpr char small_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] inline std::string small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), small_letter);
  return text;
}

}  // namespace qkv::core
