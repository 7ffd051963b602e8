#include "cli/without_times.h"

#include <algorithm>
#include <array>

namespace qkv::tests {
namespace {

constexpr std::string_view kDigits = "0123456789", kSmall = "abcdefghijklmnopqrstuvwxyz";

// By hand, for std::regex takes longer for some megabytes than all the requests that printed them.
std::size_t end_of(std::string_view all, std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(all, at), text.size());
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Behind "1,234.5e-6".
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const std::size_t end = end_of("0123456789.,", text, at);
  if (end == text.size() || text[end] != 'e') return end;
  const std::size_t digits = end + 1 + (text.substr(end + 1).starts_with('-') ? 1 : 0);
  const std::size_t behind = end_of(kDigits, text, digits);
  return behind == digits ? end : behind;
}

// Behind the unit of a time, of bytes or of a rate that begins there; else `at`.
std::size_t end_of_unit(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 12> kUnits = {"ms",  "s",   "us", "µs", "min", "KiB",
                                                              "MiB", "GiB", "KB", "MB", "GB",  "B"};
  const auto ends_at = [&](std::size_t end) { return end == text.size() || !is_of_word(text[end]); };
  for (const std::string_view unit : kUnits) {
    if (text.substr(at).starts_with(unit) && ends_at(at + unit.size())) return at + unit.size();
  }
  const std::size_t slash = end_of(kSmall, text, at);
  return slash > at && text.substr(slash).starts_with("/s") && ends_at(slash + 2) ? slash + 2 : at;
}

// Behind the name and the colon of a member that holds seconds or bytes; else `at`.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  const std::size_t end = end_of("abcdefghijklmnopqrstuvwxyz_", text, at + 1);
  const std::string_view name = text.substr(at + 1, end - at - 1);
  const auto holds = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return text.substr(end).starts_with("\":") && (holds("seconds") || holds("per_second") || holds("bytes")) ? end + 2
                                                                                                            : at;
}

}  // namespace

std::string without_times(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find_first_of("0123456789\"", at), text.size());
    kept.append(text, at, next - at);
    if (next == text.size()) break;
    std::size_t end = next + 1;
    if (text[next] == '"') {
      const std::size_t value = end_of_name(text, next);
      const std::size_t number = value == next ? next : value + (text.substr(value).starts_with(' ') ? 1 : 0);
      const std::size_t behind = value == next ? next : end_of("-0123456789.e+", text, number);
      end = behind > number ? behind : end;
      kept.append(behind > number ? std::string(text.substr(next, value - next)) + " #" : "\"");
    } else {
      end = end_of_number(text, next);
      const std::size_t unit = end + (text.substr(end).starts_with(' ') ? 1 : 0);
      const std::size_t behind = end_of_unit(text, unit);
      if (behind > unit) {
        kept.resize(kept.find_last_not_of(' ') + 1);
        kept += " #";
        end = behind;
      } else {
        kept.append(text, next, end - next);
      }
    }
    at = end;
  }
  return kept;
}

}  // namespace qkv::tests
