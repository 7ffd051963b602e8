#include "core/dropout.h"

#include <algorithm>

#include "core/philox.h"

namespace qkv {

std::array<bool, core::kDropoutGroup> core::dropout_keeps_group(std::uint64_t seed, double p,
                                                                const Place& place) noexcept {
  const PhiloxCounter counter = {static_cast<std::uint32_t>(place.j / kDropoutGroup),
                                 static_cast<std::uint32_t>(place.i), static_cast<std::uint32_t>(place.h),
                                 static_cast<std::uint32_t>(place.b)};
  const PhiloxKey key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  const auto least = static_cast<std::uint64_t>(p * 0x1p32);
  std::array<bool, kDropoutGroup> kept{};
  std::ranges::transform(philox4x32(counter, key), kept.begin(), [least](std::uint32_t word) { return word >= least; });
  return kept;
}

bool dropout_keeps(std::uint64_t seed, double p, const Place& place) noexcept {
  return core::dropout_keeps_group(seed, p, place)[static_cast<std::size_t>(place.j % core::kDropoutGroup)];
}

}  // namespace qkv
