// Names of the parts of a split GGUF model: m-00001-of-00003.gguf.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/ascii.h"

namespace qkv::core {

struct SplitName {
  std::string_view stem;   // "m", the same of all parts
  std::string_view count;  // "00003"
};

/// None for the name of a file in one piece. The views are of `name`.
[[nodiscard]] inline std::optional<SplitName> split_name(std::string_view name) {
  constexpr std::string_view kForm = "-00000-of-00000.gguf";
  constexpr std::string_view kEnding = ".gguf";
  constexpr std::size_t kDigits = 5;
  if (name.size() < kForm.size()) return std::nullopt;
  const std::string_view end = name.substr(name.size() - kForm.size());
  const auto fits = [](char got, char wanted) { return wanted == '0' ? is_digit(got) : got == wanted; };
  if (!std::ranges::equal(end, kForm, fits)) return std::nullopt;
  return SplitName{.stem = name.substr(0, name.size() - kForm.size()),
                   .count = end.substr(end.size() - kEnding.size() - kDigits, kDigits)};
}

}  // namespace qkv::core
