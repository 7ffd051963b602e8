// Characters of strings as Python counts and changes them. A string may hold broken UTF-8: a message comes from
// outside.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/chat_template/marked_text.h"

namespace qkv::text::jinja {

/// Where each character begins, and the end of the text.
[[nodiscard]] std::vector<std::size_t> character_begins(std::string_view text);
[[nodiscard]] std::size_t character_count(std::string_view text);

/// Python's str.isspace() of the character.
[[nodiscard]] bool is_python_space(char32_t character);

/// Bytes [begin, end) of the text without white space, or without the characters of `characters`, at its sides.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};
enum class Sides : unsigned char { both, left, right };
[[nodiscard]] Span stripped(std::string_view text, Sides sides);
[[nodiscard]] Span stripped(std::string_view text, std::string_view characters, Sides sides);

enum class LetterCase : unsigned char {
  upper,
  lower,
  capitalized,    // the first letter upper, all others lower
  titled,         // str.title(): a letter after none is upper
  title_of_words  // the filter title: a letter after a space, a dash or a bracket is upper
};
[[nodiscard]] MarkedText in_case(const MarkedText& text, LetterCase letter_case);

}  // namespace qkv::text::jinja
