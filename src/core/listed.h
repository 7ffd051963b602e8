// Names in one line of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace qkv::core {

/// "a, b, c"; of more than `most` "a, b and 7 more", of none "nothing".
[[nodiscard]] inline std::string listed(std::span<const std::string> names,
                                        std::size_t most = std::numeric_limits<std::size_t>::max()) {
  if (names.empty()) return "nothing";
  std::string text;
  for (const std::string& name : names.first(std::min(most, names.size()))) text += (text.empty() ? "" : ", ") + name;
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

}  // namespace qkv::core
