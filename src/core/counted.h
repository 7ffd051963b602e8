// A number of things in words.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace qkv::core {

/// "token" of one, "tokens" of another number, of a noun that takes an s.
template <std::integral Number>
[[nodiscard]] std::string plural(Number count, std::string_view noun) {
  return std::string(noun) + (count == 1 ? "" : "s");
}

/// "1 token", "2 tokens".
template <std::integral Number>
[[nodiscard]] std::string counted(Number count, std::string_view noun) {
  return std::to_string(count) + " " + plural(count, noun);
}

}  // namespace qkv::core
