#include "mask/shown_text.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>

namespace qkv::mask_detail {
namespace {

constexpr std::size_t kLongestQuote = 40;
constexpr std::size_t kBefore = 50;  // characters shown on either side of a caret
constexpr std::size_t kAfter = 30;

std::string escaped(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  if (character.size() > 1 || (byte >= 0x20 && byte < 0x7F)) return std::string(character);
  return fmt::format("\\x{:02x}", byte);
}

// body(character) for each, until it returns false.
template <class Body>
void for_each_character(std::string_view text, const Body& body) {
  while (!text.empty()) {
    const std::size_t length = first_character(text);
    if (!body(text.substr(0, length))) return;
    text.remove_prefix(length);
  }
}

}  // namespace

std::size_t first_character(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length) {
    if (utf8::is_valid(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length))) return length;
  }
  return 1;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](std::string_view) {
    ++count;
    return true;
  });
  return count;
}

std::string quoted(std::string_view text) {
  std::string shown = "`";
  std::size_t count = 0;
  for_each_character(text, [&](std::string_view character) {
    if (count++ == kLongestQuote) shown += "…";
    if (count > kLongestQuote) return false;
    shown += escaped(character);
    return true;
  });
  return shown += '`';
}

std::string pointed_at(std::string_view text, std::size_t column) {
  const std::size_t first = column > kBefore + 1 ? column - kBefore : 1;
  std::string line = first > 1 ? "  …" : "  ";
  std::size_t caret = count_characters(line);
  std::size_t here = 0;
  for_each_character(text, [&](std::string_view character) {
    if (++here < first) return true;
    if (here > column + kAfter) {
      line += "…";
      return false;
    }
    const std::string shown = escaped(character);
    line += shown;
    if (here < column) caret += count_characters(shown);
    return true;
  });
  return line.append("\n").append(caret, ' ').append("^");
}

}  // namespace qkv::mask_detail
