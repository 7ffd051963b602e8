#include "qkv/model/attention_site.h"

#include <array>

namespace qkv {

std::string_view name_of(AttentionSite site) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"tokens", "source", "cross"};
  return kNames[static_cast<std::size_t>(site)];
}

std::string SiteScope::name(std::size_t layer, std::string_view leaf) const {
  const std::string attention = stack + "blocks." + std::to_string(layer) + "." + part;
  return leaf.empty() ? attention : attention + "." + std::string(leaf);
}

}  // namespace qkv
