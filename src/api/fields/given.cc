#include "qkv/api/given.h"

#include <algorithm>

namespace qkv {

bool Given::has(std::string_view field) const {
  return std::ranges::any_of(values_, [&](const auto& one) { return infos_[one.first].name == field; });
}

std::vector<std::string> Given::names() const {
  std::vector<std::string> names;
  for (const auto& [n, value] : values_) names.push_back(infos_[n].name);
  return names;
}

}  // namespace qkv
