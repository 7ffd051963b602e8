// What a number from 0 may be, for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qkv::core {

/// "a head from 0 to 3", "an entry from 0 to 3", and of one "head 0, the only one".
[[nodiscard]] inline std::string numbered(std::string_view what, std::int64_t count) {
  const std::string name(what);
  if (count == 1) return name + " 0, the only one";
  const bool is_vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + name + " from 0 to " + std::to_string(count - 1);
}

}  // namespace qkv::core
