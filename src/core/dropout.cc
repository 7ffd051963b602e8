#include "core/philox.h"
#include "qkv/random.h"

namespace qkv {

bool dropout_keeps(std::uint64_t seed, double p, const Place& place) noexcept {
  constexpr std::int64_t kWords = 4;
  const core::PhiloxCounter counter = {static_cast<std::uint32_t>(place.j / kWords),
                                       static_cast<std::uint32_t>(place.i), static_cast<std::uint32_t>(place.h),
                                       static_cast<std::uint32_t>(place.b)};
  const core::PhiloxKey key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  const std::uint32_t word = core::philox4x32(counter, key)[static_cast<std::size_t>(place.j % kWords)];
  return word >= static_cast<std::uint64_t>(p * 0x1p32);
}

}  // namespace qkv
