// What help says of a field behind its meaning.
#include <algorithm>
#include <limits>

#include "qkv/api/field.h"

namespace qkv {
std::string bounds_in_help(const FieldInfo& field) {
  if (field.type == FieldType::seed) return "";
  if (!field.words.empty()) {
    const auto named = [&](const std::string& word) { return field.meaning.find(word) != std::string::npos; };
    return std::ranges::all_of(field.words, named) ? "" : ": " + bounds_of(field);
  }
  FieldInfo shown = field;
  if (shown.most.at >= static_cast<double>(kAnyCount)) shown.most = std::numeric_limits<double>::infinity();
  if (shown.least.at <= -kAnyNumber) shown.least = -std::numeric_limits<double>::infinity();
  const bool is_any_count = shown.least.at == 0 && !shown.least.is_open && !shown.most.is_finite();
  const std::string bounds = is_any_count ? "" : bounds_of(shown);
  return bounds.empty() ? "" : "; " + bounds;
}

}  // namespace qkv
