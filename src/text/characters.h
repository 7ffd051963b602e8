// Characters: UTF-8 in and out, and the classes that tokenizers ask for. Categories are those of utf8proc's Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qkv::text {

inline constexpr char32_t kReplacement = 0xFFFD;
/// What SentencePiece has for a blank.
inline constexpr std::string_view kBlankMark = "\u2581";

/// A character of bytes that may be broken: what Python's errors="replace" reads, U+FFFD for each maximal part of a
/// sequence that cannot go on (Unicode, "U+FFFD Substitution of Maximal Subparts").
struct ReadCharacter {
  char32_t value = 0;
  std::uint32_t length = 1;  // bytes read, at least one
};
[[nodiscard]] ReadCharacter read_character(std::string_view bytes, std::size_t at) noexcept;

/// The same, but of what is no character each byte is U+FFFD.
[[nodiscard]] ReadCharacter read_or_one_byte(std::string_view bytes, std::size_t at) noexcept;

/// How many bytes the character has that begins with this byte of valid UTF-8.
[[nodiscard]] inline std::uint32_t character_length(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  constexpr unsigned kTwo = 0xC0;
  constexpr unsigned kThree = 0xE0;
  constexpr unsigned kFour = 0xF0;
  return byte < kTwo ? 1U : byte < kThree ? 2U : byte < kFour ? 3U : 4U;
}
[[nodiscard]] inline bool continues_character(char byte) noexcept {
  constexpr unsigned kMask = 0xC0;
  constexpr unsigned kContinuation = 0x80;
  return (static_cast<unsigned char>(byte) & kMask) == kContinuation;
}

/// The character at a place of valid UTF-8 where one begins.
[[nodiscard]] char32_t character_at(std::string_view valid, std::size_t at) noexcept;

/// The character in front of a place, and where it begins; `end` > 0.
[[nodiscard]] std::size_t begin_of_last(std::string_view valid, std::size_t end) noexcept;

void append_character(std::string& text, char32_t character);
[[nodiscard]] std::string to_utf8(char32_t character);
[[nodiscard]] std::size_t count_characters(std::string_view valid) noexcept;

/// All bytes as valid UTF-8, read as read_character() does.
[[nodiscard]] std::string with_replacements(std::string_view bytes);

[[nodiscard]] bool is_space(char32_t character) noexcept;            // Unicode's White_Space
[[nodiscard]] bool is_punctuation(char32_t character) noexcept;      // P*, and ASCII's !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~
[[nodiscard]] bool is_control(char32_t character) noexcept;          // Cc, Cf, Co, but not tab and line ends
[[nodiscard]] bool is_nonspacing_mark(char32_t character) noexcept;  // Mn
[[nodiscard]] bool is_mark(char32_t character) noexcept;             // M*
[[nodiscard]] bool is_number(char32_t character) noexcept;           // N*
[[nodiscard]] bool is_word(char32_t character) noexcept;             // \w as UTS 18 has it
/// The blocks of Chinese characters that BERT sets apart.
[[nodiscard]] bool is_chinese(char32_t character) noexcept;

/// The lower case of a character as one character; that of U+0130 has a second one, U+0307, which is not given.
[[nodiscard]] char32_t lower_case(char32_t character) noexcept;

}  // namespace qkv::text
