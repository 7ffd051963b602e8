// Names of weights that several families share, with those of one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/families/family.h"

namespace qkv::families {

template <std::size_t... N>
constexpr std::array<WeightName, (N + ...)> joined_names(const WeightName (&... parts)[N]) {
  std::array<WeightName, (N + ...)> all{};
  auto to = all.begin();
  ((to = std::ranges::copy(parts, to).out), ...);
  return all;
}

}  // namespace qkv::families
