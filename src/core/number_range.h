// Numbers that a text has and a type does not hold.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace qkv::core {

/// What a double holds, for messages.
inline constexpr std::string_view kRangeOfF64 = "in the range of f64, up to 1.8e308 and down to 4.9e-324";

/// Whether the whole text is a number that Number does not hold: too large or, of a floating Number, too close to 0.
template <class Number>
[[nodiscard]] bool is_out_of_range(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, value);  // NOLINT(bugprone-suspicious-stringview-data-usage)
  return error == std::errc::result_out_of_range && stop == end;
}

}  // namespace qkv::core
