// Dropout's function for the keys that share one evaluation.
#pragma once

#include <array>
#include <cstdint>

#include "qkv/random.h"

namespace qkv::core {

inline constexpr std::int64_t kDropoutGroup = 4;

/// dropout_keeps() of keys j / 4 * 4 and the three behind it, at the place's j.
[[nodiscard]] std::array<bool, kDropoutGroup> dropout_keeps_group(std::uint64_t seed, double p,
                                                                  const Place& place) noexcept;

}  // namespace qkv::core
