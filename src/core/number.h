// Numbers among words.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace qkv::core {

/// The number that the whole text is; nullopt for any other text, and for a number that Number does not hold.
template <class Number>
[[nodiscard]] std::optional<Number> number_from(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, value);  // NOLINT(bugprone-suspicious-stringview-data-usage)
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace qkv::core
