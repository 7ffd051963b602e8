#include "text/chars_map.h"

#include "qkv/error.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

constexpr std::size_t kUnit = 4;  // bytes

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t n = kUnit; n-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + n]);
  return value;
}

std::uint32_t offset_of(std::uint32_t unit) noexcept { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }
std::uint32_t label_of(std::uint32_t unit) noexcept { return unit & ((1U << 31U) | 0xFFU); }
bool has_leaf(std::uint32_t unit) noexcept { return ((unit >> 8U) & 1U) != 0; }

}  // namespace

CharsMap::CharsMap(std::string_view bytes, const std::string& place) {
  if (bytes.empty()) return;
  const std::size_t size = bytes.size() < kUnit ? 0 : little_endian(bytes, 0);
  if (size == 0 || size % kUnit != 0 || size > bytes.size() - kUnit) {
    throw FileError(place, "expected a double array of whole units within the table, got " + std::to_string(size) +
                               " of " + std::to_string(bytes.size()) + " bytes");
  }
  units_.resize(size / kUnit);
  for (std::size_t n = 0; n < units_.size(); ++n) units_[n] = little_endian(bytes, kUnit * (n + 1));
  replacements_ = bytes.substr(kUnit + size);
  if (with_replacements(replacements_) != replacements_) {
    throw FileError(place, "expected replacements in UTF-8, got other bytes");
  }
}

template <class Visit>
bool CharsMap::walk(std::string_view text, const Visit& visit) const noexcept {
  if (units_.empty()) return false;
  std::uint32_t place = offset_of(units_[0]);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto label = static_cast<unsigned char>(text[at]);
    place ^= label;
    if (label == 0 || place >= units_.size() || label_of(units_[place]) != label) return false;
    const std::uint32_t unit = units_[place];
    place ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (place >= units_.size()) return false;
    const std::size_t begin = units_[place] & 0x7FFFFFFFU;
    if (begin >= replacements_.size() || continues_character(replacements_[begin])) return false;
    const std::size_t end = replacements_.find('\0', begin);
    if (!visit({.length = at + 1, .replacement = std::string_view(replacements_).substr(begin, end - begin)})) break;
  }
  return true;
}

std::optional<CharsMap::Match> CharsMap::shortest(std::string_view text) const noexcept {
  std::optional<Match> found;
  walk(text, [&](const Match& match) {
    found = match;
    return false;
  });
  return found;
}

std::optional<CharsMap::Match> CharsMap::longest(std::string_view text) const noexcept {
  std::optional<Match> found;
  walk(text, [&](const Match& match) {
    found = match;
    return true;
  });
  return found;
}

bool CharsMap::knows(std::string_view beginning) const noexcept {
  return walk(beginning, [](const Match&) { return true; });
}

}  // namespace qkv::text
