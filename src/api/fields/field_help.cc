// What help says of a field behind its meaning.
#include <algorithm>
#include <limits>

#include "qkv/api/field.h"

namespace qkv {
namespace {

bool is_named_in(std::string_view meaning, std::string_view word) { return meaning.find(word) != meaning.npos; }

}  // namespace

std::string bounds_in_help(const FieldInfo& field) {
  if (field.type == FieldType::seed) return "";
  if (!field.words.empty()) {
    const auto named = [&](const std::string& word) { return is_named_in(field.meaning, word); };
    return std::ranges::all_of(field.words, named) ? "" : ": " + bounds_of(field);
  }
  FieldInfo shown = field;
  if (shown.most.at >= std::min(static_cast<double>(kAnyCount), kAnyNumber)) {
    shown.most = std::numeric_limits<double>::infinity();
  }
  if (shown.least.at <= -kAnyNumber) shown.least = -std::numeric_limits<double>::infinity();
  const bool is_any_count = shown.least.at == 0 && !shown.least.is_open && !shown.most.is_finite();
  const std::string bounds = is_any_count ? "" : bounds_of(shown);
  return bounds.empty() ? "" : "; " + bounds;
}

}  // namespace qkv
