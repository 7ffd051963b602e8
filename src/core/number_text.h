// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace qkv::core {

/// The number that the whole text is, as std::from_chars reads it; nullopt for any other text, and for a number that
/// Number does not hold. Allocates nothing.
template <class Number>
[[nodiscard]] std::optional<Number> number_from(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, value);  // NOLINT(bugprone-suspicious-stringview-data-usage)
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// The numbers of "3,0.5,2", or of another separator; nullopt if a part is none, as in "3,,2" and in the empty text.
template <class Number>
[[nodiscard]] std::optional<std::vector<Number>> numbers_from(std::string_view text, char separator = ',') {
  std::vector<Number> values;
  for (;;) {
    const std::size_t at = text.find(separator);
    const std::optional<Number> value = number_from<Number>(text.substr(0, at));
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (at == std::string_view::npos) return values;
    text.remove_prefix(at + 1);
  }
}

}  // namespace qkv::core
