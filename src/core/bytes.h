// Sizes in bytes, checked before they are allocated, and what is aligned in a block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include "qkv/tensor.h"

namespace qkv::core {

/// The largest block: 2^63 - 1 bytes, or 2^31 - 1 where an address has 32 bits.
inline constexpr auto kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());

/// Bytes of product(extents) elements of `element_size` bytes.
/// Every allocation whose size comes from a shape uses this. Throws InvalidArgument(function, "shape",
/// …) for a negative extent, and if they are more than `most`.
[[nodiscard]] std::size_t checked_bytes(std::string_view function, const Dims& extents, std::size_t element_size,
                                        std::uint64_t most = kMostBytes);

/// The same for a vector of T: how many elements, where their bytes fit.
template <class T>
[[nodiscard]] std::size_t checked_count(std::string_view function, const Dims& extents,
                                        std::uint64_t most = kMostBytes) {
  return checked_bytes(function, extents, sizeof(T), most) / sizeof(T);
}

/// Bytes of parts that lie one after the other. Throws InvalidArgument(function, "shape", …) where they are more than
/// `most`.
[[nodiscard]] std::size_t checked_sum(std::string_view function, std::initializer_list<std::uint64_t> parts,
                                      std::uint64_t most = kMostBytes);

inline constexpr std::size_t kAlignment = 64;  // of what lies in scratch: a line of the cache

/// `bytes` rounded up to whole lines.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The block from its first line on.
[[nodiscard]] inline std::span<std::byte> aligned(std::span<std::byte> block) {
  const auto address = std::bit_cast<std::uintptr_t>(block.data());
  return block.subspan((kAlignment - address % kAlignment) % kAlignment);
}

}  // namespace qkv::core
