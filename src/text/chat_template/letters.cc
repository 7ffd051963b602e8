#include "text/chat_template/letters.h"

#include <utf8proc.h>

#include <algorithm>
#include <string>

#include "text/characters.h"

namespace qkv::text::jinja {
namespace {

bool is_cased(char32_t character) {
  const auto letter = static_cast<utf8proc_int32_t>(character);
  return utf8proc_tolower(letter) != letter || utf8proc_toupper(letter) != letter;
}

// Where the last character of [begin, end) begins; a byte that belongs to none is one by itself.
std::size_t last_begin(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t at = end - 1;
  constexpr std::size_t kLongest = 4;
  while (at > begin && end - at < kLongest && continues_character(text[at])) --at;
  return at + read_character(text, at).length == end ? at : end - 1;
}

template <class IsStripped>
Span stripped_of(std::string_view text, Sides sides, const IsStripped& is_stripped) {
  Span kept{0, text.size()};
  while (sides != Sides::right && kept.begin < kept.end) {
    const ReadCharacter character = read_character(text, kept.begin);
    if (!is_stripped(character.value)) break;
    kept.begin += character.length;
  }
  while (sides != Sides::left && kept.begin < kept.end) {
    const std::size_t last = last_begin(text, kept.begin, kept.end);
    if (!is_stripped(read_character(text, last).value)) break;
    kept.end = last;
  }
  return kept;
}

bool begins_a_word(LetterCase letter_case, bool is_first, char32_t before) {
  switch (letter_case) {
    case LetterCase::upper:
      return true;
    case LetterCase::lower:
      return false;
    case LetterCase::capitalized:
      return is_first;
    case LetterCase::titled:
      return is_first || !is_cased(before);
    case LetterCase::title_of_words:
      break;
  }
  constexpr std::u32string_view kBetween = U"-({[<";
  return is_first || is_python_space(before) || kBetween.find(before) != std::u32string_view::npos;
}

}  // namespace

std::vector<std::size_t> character_begins(std::string_view text) {
  std::vector<std::size_t> begins;
  begins.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size(); at += read_character(text, at).length) begins.push_back(at);
  begins.push_back(text.size());
  return begins;
}

std::size_t character_count(std::string_view text) { return character_begins(text).size() - 1; }

bool is_python_space(char32_t character) {
  constexpr char32_t kFirstSeparator = 0x1C;
  constexpr char32_t kLastSeparator = 0x1F;
  return is_space(character) || (character >= kFirstSeparator && character <= kLastSeparator);
}

Span stripped(std::string_view text, Sides sides) { return stripped_of(text, sides, is_python_space); }

Span stripped(std::string_view text, std::string_view characters, Sides sides) {
  std::u32string set;
  for (std::size_t at = 0; at < characters.size();) {
    const ReadCharacter character = read_character(characters, at);
    set.push_back(character.value);
    at += character.length;
  }
  std::ranges::sort(set);
  return stripped_of(text, sides, [&](char32_t character) { return std::ranges::binary_search(set, character); });
}

MarkedText in_case(const MarkedText& text, LetterCase letter_case) {
  MarkedText changed;
  char32_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    const ReadCharacter character = read_character(text.bytes(), at);
    const auto letter = static_cast<utf8proc_int32_t>(character.value);
    const bool is_upper = begins_a_word(letter_case, at == 0, before);
    const bool is_whole_upper = letter_case == LetterCase::upper || letter_case == LetterCase::title_of_words;
    const auto now = static_cast<char32_t>(!is_upper        ? utf8proc_tolower(letter)
                                           : is_whole_upper ? utf8proc_toupper(letter)
                                                            : utf8proc_totitle(letter));
    if (now == character.value) {
      changed.append(text, at, at + character.length);
    } else {
      changed.append_for(text, at, to_utf8(now));
    }
    before = character.value;
    at += character.length;
  }
  return changed;
}

}  // namespace qkv::text::jinja
