// A double in text.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace qkv::core {

/// The shortest text that reads back as the same double: "-1", "0.5", "1e-05", "nan". The same in every locale, where
/// std::to_string() writes the decimal point of the program's.
[[nodiscard]] inline std::string plain_number(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace qkv::core
