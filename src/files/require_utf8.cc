#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "files/file_kind.h"
#include "files/place.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLongestCharacter = 4;

std::size_t length_by_first(char first) {
  return static_cast<std::size_t>(std::max(1, std::countl_one(static_cast<unsigned char>(first))));
}

// How many bytes from the beginning on are UTF-8: eight at a time where all of them are ASCII, as in most texts.
std::size_t valid_bytes(std::string_view bytes) {
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t eight = kHigh;
    if (at + sizeof(eight) <= bytes.size()) std::memcpy(&eight, bytes.data() + at, sizeof(eight));
    if ((eight & kHigh) == 0) {
      at += sizeof(eight);
      continue;
    }
    const std::string_view character = bytes.substr(at, length_by_first(bytes[at]));
    if (!utf8::is_valid(character.begin(), character.end())) return at;
    at += character.size();
  }
  return bytes.size();
}

bool is_cut_at(std::string_view bytes, std::size_t at) {
  const std::string_view rest = bytes.substr(at);
  const std::size_t length = length_by_first(rest.front());
  return rest.size() > 1 && length <= kLongestCharacter && rest.size() < length &&
         std::ranges::all_of(rest.substr(1), [](unsigned char byte) { return byte >> 6U == 2; });
}

// What is wrong at a byte of a text.
std::string fault_at(std::string_view bytes, std::size_t at) {
  if (is_cut_at(bytes, at)) return fmt::format("one that ends within a character, at byte {} (counted from 0)", at);
  return fmt::format("the byte 0x{:02X} at byte {} (counted from 0)", static_cast<unsigned char>(bytes[at]), at);
}

// How a file may be mended. One that was UTF-8 up to here, with letters beyond ASCII, is damaged, and no other
// encoding. A text of one byte a letter has no control characters.
std::string_view advice_at(std::string_view bytes, std::size_t at) {
  const auto is_high = [](unsigned char byte) { return byte >= 0x80; };
  const auto is_control = [](unsigned char byte) {
    return byte < ' ' && (byte < '\t' || byte > '\r') && byte != '\x1B';
  };
  const auto is_upper_control = [](unsigned char byte) { return byte >= 0x80 && byte < 0xA0; };
  if (is_cut_at(bytes, at) || std::ranges::any_of(bytes.substr(0, at), is_high)) return "";
  if (std::ranges::any_of(bytes, is_control)) return "";
  if (std::ranges::any_of(bytes, is_upper_control)) return ", perhaps of Windows-1252: save it as UTF-8";
  return ", as Latin-1 has it: save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8)";
}

void refuse_wide_encoding(std::string_view bytes, const std::string& source) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMarks = {
      {{"\xFF\xFE\0\0"sv, "UTF-32"}, {"\0\0\xFE\xFF"sv, "UTF-32"}, {"\xFF\xFE"sv, "UTF-16"}, {"\xFE\xFF"sv, "UTF-16"}}};
  for (const auto& [mark, name] : kMarks) {
    if (bytes.starts_with(mark))
      throw FileError(source, fmt::format("expected a text in UTF-8, got {}; save it as UTF-8", name));
  }
}

}  // namespace

std::string files::other_than_utf8(std::string_view bytes) {
  const std::size_t valid = valid_bytes(bytes);
  return valid < bytes.size() ? fault_at(bytes, valid) : "";
}

std::string_view require_utf8(std::string_view bytes, const std::string& source) {
  refuse_wide_encoding(bytes, source);
  const std::size_t valid = valid_bytes(bytes);
  const std::string_view begin = bytes.substr(0, files::kBeginning);
  // Letters alone may begin a text as well: "GGUF is a format", "BMW".
  if (valid < bytes.size() || begin.find('\0') != std::string_view::npos || begin.starts_with("%PDF-")) {
    files::refuse_other_kind(begin, source, "a text in UTF-8");
  }
  const auto zeros = static_cast<std::size_t>(std::ranges::count(bytes, '\0'));
  if (zeros > bytes.size() / 4) {
    throw FileError(source, fmt::format("expected a text in UTF-8, got {} zero bytes among {}, as UTF-16 has them",
                                        zeros, bytes.size()));
  }
  if (valid < bytes.size()) {
    const auto line = 1 + std::ranges::count(bytes.substr(0, valid), '\n');
    throw FileError(fmt::format("{}, line {}", source, line),
                    fmt::format("expected a text in UTF-8, got {}{}", fault_at(bytes, valid), advice_at(bytes, valid)));
  }
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) bytes.remove_prefix(3);
  return bytes;
}

}  // namespace qkv
