#include "api/heads/changes.h"

#include <algorithm>
#include <utility>

#include "api/fields/refuse.h"

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
    add_change("changes", parse_intervention(one), changes);
  }
  return changes;
}

void add_change(const char* field, Intervention one, std::vector<Intervention>& all) {
  const std::string words = to_string(one);
  if (std::ranges::find(all, words, [](const Intervention& other) { return to_string(other); }) != all.end()) {
    refuse(field, "each change once", "\"" + words + "\" twice");
  }
  all.push_back(std::move(one));
}

std::vector<std::string> kinds_of_change() {
  return {"remove", "pattern", "cut", "patch", "freeze", "set", "intervention"};
}

}  // namespace qkv::api_detail
