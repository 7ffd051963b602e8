// A number of things in words.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace qkv::core {

/// "1 token", "2 tokens", of a noun that takes an s.
template <std::integral Number>
[[nodiscard]] std::string counted(Number count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace qkv::core
