#include "mask/tile_bits.h"

#include <cstring>

namespace qkv {

void transpose_bits(const std::uint64_t* rows, std::uint64_t* columns) noexcept {
  if (rows != columns) std::memcpy(columns, rows, 64 * sizeof(std::uint64_t));
  // Swaps the upper right with the lower left quarter of blocks of 64, then of 32, … by 2.
  std::uint64_t low = 0x00000000FFFFFFFFU;
  for (unsigned half = 32; half > 0; half /= 2, low ^= low << half) {
    for (unsigned block = 0; block < 64; block += 2 * half) {
      for (unsigned r = block; r < block + half; ++r) {
        const std::uint64_t swapped = ((columns[r] >> half) ^ columns[r + half]) & low;
        columns[r] ^= swapped << half;
        columns[r + half] ^= swapped;
      }
    }
  }
}

}  // namespace qkv
