#include "text/characters.h"

#include <utf8.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace qkv::text {
namespace {

constexpr char32_t kAsciiEnd = 0x80;

struct ContinuationBounds {
  std::uint32_t length = 0;  // of the whole sequence; 0: no sequence begins with this byte
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
};

// Table 3-7 of the Unicode standard: what may follow the first byte of a well-formed sequence.
ContinuationBounds bounds_after(unsigned char first) noexcept {
  if (first >= 0xC2 && first <= 0xDF) return {.length = 2};
  if (first == 0xE0) return {.length = 3, .least = 0xA0};
  if (first == 0xED) return {.length = 3, .most = 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {.length = 3};
  if (first == 0xF0) return {.length = 4, .least = 0x90};
  if (first == 0xF4) return {.length = 4, .most = 0x8F};
  if (first >= 0xF1 && first <= 0xF3) return {.length = 4};
  return {};
}

utf8proc_category_t category_of(char32_t character) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool is_ascii_punctuation(char32_t c) noexcept {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

struct Block {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool lies_in(const std::array<Block, N>& blocks, char32_t character) noexcept {
  return std::ranges::any_of(blocks,
                             [&](const Block& block) { return character >= block.first && character <= block.last; });
}

}  // namespace

ReadCharacter read_character(std::string_view bytes, std::size_t at) noexcept {
  const auto byte_at = [&](std::size_t n) { return static_cast<unsigned char>(bytes[n]); };
  const unsigned char first = byte_at(at);
  if (first < kAsciiEnd) return {.value = first, .length = 1};
  ContinuationBounds bounds = bounds_after(first);
  if (bounds.length == 0) return {.value = kReplacement, .length = 1};
  constexpr unsigned kSix = 6;
  constexpr unsigned kLow = 0x3F;
  char32_t value = first & (0x7FU >> bounds.length);
  for (std::uint32_t n = 1; n < bounds.length; ++n) {
    const bool goes_on = at + n < bytes.size() && byte_at(at + n) >= bounds.least && byte_at(at + n) <= bounds.most;
    if (!goes_on) return {.value = kReplacement, .length = n};
    value = value << kSix | (byte_at(at + n) & kLow);
    bounds = {.length = bounds.length};
  }
  return {.value = value, .length = bounds.length};
}

ReadCharacter read_or_one_byte(std::string_view bytes, std::size_t at) noexcept {
  const ReadCharacter read = read_character(bytes, at);
  const bool is_broken = read.value == kReplacement && bytes.substr(at, read.length) != "\uFFFD";
  return is_broken ? ReadCharacter{.value = kReplacement} : read;
}

char32_t character_at(std::string_view valid, std::size_t at) noexcept {
  const auto byte_at = [&](std::size_t n) { return static_cast<unsigned char>(valid[n]); };
  const char32_t first = byte_at(at);
  const std::uint32_t length = character_length(valid[at]);
  constexpr unsigned kSix = 6;
  constexpr unsigned kLow = 0x3F;
  if (length == 1) return first;
  char32_t value = first & (0x7FU >> length);
  for (std::uint32_t n = 1; n < length && at + n < valid.size(); ++n) value = value << kSix | (byte_at(at + n) & kLow);
  return value;
}

std::size_t begin_of_last(std::string_view valid, std::size_t end) noexcept {
  std::size_t begin = end - 1;
  while (begin > 0 && continues_character(valid[begin])) --begin;
  return begin;
}

void append_character(std::string& text, char32_t character) {
  if (character < kAsciiEnd) {
    text += static_cast<char>(character);
    return;
  }
  utf8::unchecked::append(character, std::back_inserter(text));
}

std::string to_utf8(char32_t character) {
  std::string text;
  append_character(text, character);
  return text;
}

std::size_t count_characters(std::string_view valid) noexcept {
  return valid.size() - static_cast<std::size_t>(std::ranges::count_if(valid, continues_character));
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const ReadCharacter read = read_character(bytes, at);
    append_character(text, read.value);
    at += read.length;
  }
  return text;
}

bool is_space(char32_t c) noexcept {
  if (c < kAsciiEnd) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_punctuation(char32_t c) noexcept {
  if (c < kAsciiEnd) return is_ascii_punctuation(c);
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_control(char32_t c) noexcept {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < kAsciiEnd) return c < ' ' || c == 0x7F;
  const utf8proc_category_t category = category_of(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool is_nonspacing_mark(char32_t c) noexcept { return c >= kAsciiEnd && category_of(c) == UTF8PROC_CATEGORY_MN; }

bool is_mark(char32_t c) noexcept {
  if (c < kAsciiEnd) return false;
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_number(char32_t c) noexcept {
  if (c < kAsciiEnd) return c >= '0' && c <= '9';
  const utf8proc_category_t category = category_of(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t c) noexcept {
  if (c < kAsciiEnd) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  // Join controls, and the circled and squared letters, which are alphabetic symbols.
  static constexpr std::array<Block, 5> kMore = {
      {{0x200C, 0x200D}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}}};
  const utf8proc_category_t category = category_of(c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
         lies_in(kMore, c);
}

bool is_chinese(char32_t c) noexcept {
  static constexpr std::array<Block, 8> kBlocks = {{{0x4E00, 0x9FFF},
                                                    {0x3400, 0x4DBF},
                                                    {0x20000, 0x2A6DF},
                                                    {0x2A700, 0x2B73F},
                                                    {0x2B740, 0x2B81F},
                                                    {0x2B920, 0x2CEAF},
                                                    {0xF900, 0xFAFF},
                                                    {0x2F800, 0x2FA1F}}};
  return c >= 0x3400 && lies_in(kBlocks, c);
}

char32_t lower_case(char32_t c) noexcept {
  constexpr char32_t kToLower = 'a' - 'A';
  if (c < kAsciiEnd) return c >= 'A' && c <= 'Z' ? c + kToLower : c;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace qkv::text
