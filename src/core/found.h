// What a list holds.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>

namespace qkv::core {

/// The first element of which `projection` gives `value`; null if there is none. A pointer, whatever the iterators are.
template <class Range, class Value, class Projection = std::identity>
[[nodiscard]] constexpr auto found_in(const Range& all, const Value& value, Projection projection = {}) {
  const auto place = std::ranges::find(all, value, projection);
  return place == std::end(all) ? nullptr : std::addressof(*place);
}

}  // namespace qkv::core
