// The bits of a partial tile by key rather than by query.
#pragma once

#include <cstdint>

namespace qkv {

/// Bit r of columns[c] = bit c of rows[r], for a block of 64 x 64. The two may be the same array.
/// Warren, Hacker's Delight, 2nd edition 2012, section 7-3.
void transpose_bits(const std::uint64_t* rows, std::uint64_t* columns) noexcept;

}  // namespace qkv
