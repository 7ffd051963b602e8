// What came from outside, short enough to stand in a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qkv::core {

/// The text, or its first 80 bytes and "…" where it is longer than `most`; of a quoted text with the quote behind.
/// Letters of several bytes stay whole.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t most = 200) {
  constexpr std::size_t kKept = 80;
  if (text.size() <= most || text.size() <= kKept) return std::string(text);
  std::size_t end = kKept;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + (text.front() == '"' ? "…\"" : "…");
}

/// The text, or its beginning and its end with "…" between them where it is longer than `most`: of a message that says
/// at its end what is wrong.
[[nodiscard]] inline std::string shortened_between(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto is_inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::size_t end = most / 2;
  std::size_t begin = text.size() - most / 2;
  while (end > 0 && is_inside(end)) --end;
  while (is_inside(begin)) ++begin;
  return std::string(text.substr(0, end)) + "…" + std::string(text.substr(begin));
}

/// In quotes, with a backslash before those that it has: nothing in it is taken for a message's own words.
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) quoted.append(letter == '"' || letter == '\\' ? "\\" : "").push_back(letter);
  return quoted + '"';
}

/// The text as it stands among a message's own words, of which fields are in backquotes: in quotes where it has either.
[[nodiscard]] inline std::string among_words(std::string_view text) {
  return text.find_first_of("`\"") == std::string_view::npos ? std::string(text) : in_quotes(text);
}

}  // namespace qkv::core
