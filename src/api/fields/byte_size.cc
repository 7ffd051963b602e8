#include "api/fields/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/ascii.h"
#include "core/number_text.h"

namespace qkv::api_detail {
namespace {

constexpr std::array<std::string_view, 6> kUnits = {"", "KiB", "MiB", "GiB", "TiB", "PiB"};

// "k", "kb" and "kib" for KiB.
bool is_unit(std::string_view word, std::string_view unit) {
  const std::string small = core::small_letters(std::string(unit));
  if (unit.empty()) return word.empty() || word == "b";
  return word == small || word == small.substr(0, 1) || word == small.substr(0, 1) + "b";
}

}  // namespace

std::optional<std::uint64_t> size_from(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = core::number_from<std::uint64_t>(text.substr(0, digits));
  std::string word = core::small_letters(std::string(text.substr(digits)));
  std::erase(word, ' ');
  std::size_t unit = 0;
  while (unit < kUnits.size() && !is_unit(word, kUnits[unit])) ++unit;
  if (!number || unit == kUnits.size()) return std::nullopt;
  const std::uint64_t shift = 10 * unit;
  if (*number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::string size_as_written(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 1024;
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes != 0 && bytes % kStep == 0; ++unit) bytes /= kStep;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

}  // namespace qkv::api_detail
