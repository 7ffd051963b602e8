#include "api/heads/changes.h"

#include <algorithm>
#include <array>

#include "api/fields/refuse.h"
#include "qkv/api/heads.h"

namespace qkv::api_detail {

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ') || part.ends_with('\r')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::vector<Intervention> changes_in(const std::string& text) {
  std::vector<Intervention> changes;
  for (const std::string& one : parts_of(text, ';')) {
    changes.push_back(of_field("changes", [&] { return parse_intervention(one); }));
  }
  return changes;
}

std::string field_of_change(const std::string& argument) {
  constexpr std::array kChanges = {"remove", "pattern", "cut", "patch", "freeze", "set", "intervention"};
  if (std::ranges::find(kChanges, argument) != kChanges.end()) return "changes";
  const auto infos = head_fields().infos();
  const bool is_field = std::ranges::any_of(infos, [&](const FieldInfo& info) { return info.name == argument; });
  return is_field ? argument : "text";
}

}  // namespace qkv::api_detail
