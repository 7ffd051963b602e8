// Numbers as blocks of quantised weights.
#pragma once

#include <cstddef>
#include <span>

#include "core/block_type.h"

namespace qkv::files {

/// Whether quantise() makes blocks of this type: q8_0, q4_0, q4_1, q5_0 and q5_1.
[[nodiscard]] bool can_quantise(core::BlockType type) noexcept;

/// Rows of whole blocks, finite, as blocks: the bits that quants.py of the `gguf` package makes, which is the
/// reference of GGML. `blocks` has the bytes of the layout for each of its numbers. Allocates nothing.
void quantise(core::BlockType type, std::span<const float> numbers, std::span<std::byte> blocks) noexcept;

/// How far a number may be from what it was: `relative` times the largest absolute value of its block, and `least`.
struct RoundingBound {
  double relative = 0;
  double least = 0;

  [[nodiscard]] double of(double most) const noexcept { return relative * most + least; }
};
[[nodiscard]] RoundingBound quantising_bound(core::BlockType type) noexcept;

}  // namespace qkv::files
