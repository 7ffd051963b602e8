// A list in which the second of the same does nothing.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "api/fields/refuse.h"

namespace qkv::api_detail {

/// Throws InvalidArgument naming the field where an item stands twice; `typed` has the items as they were given.
template <class Item>
void require_each_once(std::string_view field, std::span<const std::string> typed, std::span<const Item> items) {
  for (std::size_t n = 1; n < items.size(); ++n) {
    if (std::ranges::find(items.first(n), items[n]) == items.first(n).end()) continue;
    refuse(field, "each of them once", "\"" + typed[n] + "\" twice");
  }
}

}  // namespace qkv::api_detail
