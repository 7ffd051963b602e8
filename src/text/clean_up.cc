#include "text/clean_up.h"

namespace qkv::text {

void clean_up(std::string& text) {
  for (const auto& [old, by] : kCleanUpRules) replace_all(text, old, by);
}

void replace_all(std::string& text, std::string_view old, std::string_view by) {
  std::size_t at = old.empty() ? std::string::npos : text.find(old);
  if (at == std::string::npos) return;
  std::string made;
  std::size_t from = 0;
  for (; at != std::string::npos; at = text.find(old, from)) {
    made.append(text, from, at - from).append(by);
    from = at + old.size();
  }
  text = made.append(text, from, std::string::npos);
}

}  // namespace qkv::text
