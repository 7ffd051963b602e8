// Dropout's function for the keys that share one evaluation.
#pragma once

#include <array>
#include <cstdint>

#include "qkv/random.h"

namespace qkv::core {

inline constexpr std::int64_t kDropoutGroup = 4;

/// dropout_keeps() of the four keys from j / 4 * 4 on, where j is that of the place.
[[nodiscard]] std::array<bool, kDropoutGroup> dropout_keeps_group(std::uint64_t seed, double p,
                                                                  const Place& place) noexcept;

}  // namespace qkv::core
