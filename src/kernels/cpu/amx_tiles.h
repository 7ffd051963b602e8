// The AMX tile unit and its product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/amx_elements.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/tile_config.h"

namespace qkv::kernels::cpu::amx {

inline constexpr std::int64_t kSide = 16;   // rows of a tile register, and floats or pairs of a row
inline constexpr std::int64_t kDepth = 32;  // 16-bit elements of a row
inline constexpr std::int64_t kRowBytes = 64;
inline constexpr std::int64_t kTileElements = kSide * kDepth;

/// The first `count` of kSide places: none below 0.
[[gnu::always_inline]] inline __mmask16 mask_of(std::int64_t count) {
  if (count >= kSide) return 0xFFFF;
  return count <= 0 ? 0 : static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1);
}

/// Eight registers of 16 rows of 64 bytes.
using TileUnit = HeldTiles<Registers>;

/// sums (2 x 2 registers of floats) = or += left (2 of 16 rows) * right (2 of 16 pairs), over `runs` x kSteps registers
/// of depth 32.
struct Quad {
  const std::byte* left;
  std::int64_t left_stride;    // bytes between rows
  std::int64_t left_next;      // bytes to the second register's rows
  std::int64_t left_step;      // bytes to the next depth
  std::int64_t left_run;       // bytes to the next run
  const std::uint16_t* right;  // registers of 1 KiB
  std::int64_t right_next;     // elements to the second register
  std::int64_t right_run;      // elements to the next run
  float* sums;                 // rows of kTile floats
};

/// The tile unit starves behind a loop of few steps, so kSteps is a constant. `Tiles` has the operations on registers.
template <class Tiles, Sum kSum, std::int64_t kSteps>
[[gnu::always_inline]] inline void multiply(const Quad& quad, std::int64_t runs) {
  constexpr std::int64_t kStride = kTile * static_cast<std::int64_t>(sizeof(float));
  float* low = quad.sums + kSide * kTile;
  if constexpr (kSum == Sum::onto) {
    Tiles::template load_tile<0>(quad.sums, kStride);
    Tiles::template load_tile<1>(quad.sums + kSide, kStride);
    Tiles::template load_tile<2>(low, kStride);
    Tiles::template load_tile<3>(low + kSide, kStride);
  } else {
    Tiles::template zero_tile<0>();
    Tiles::template zero_tile<1>();
    Tiles::template zero_tile<2>();
    Tiles::template zero_tile<3>();
  }
  for (std::int64_t run = 0; run < runs; ++run) {
#pragma GCC unroll 4
    for (std::int64_t n = 0; n < kSteps; ++n) {
      const std::byte* left = quad.left + run * quad.left_run + n * quad.left_step;
      const std::uint16_t* right = quad.right + run * quad.right_run + n * kTileElements;
      Tiles::template load_tile<6>(right, kRowBytes);
      Tiles::template load_tile<4>(left, quad.left_stride);
      Tiles::template multiply<0, 4, 6>();
      Tiles::template load_tile<7>(right + quad.right_next, kRowBytes);
      Tiles::template multiply<1, 4, 7>();
      Tiles::template load_tile<5>(left + quad.left_next, quad.left_stride);
      Tiles::template multiply<2, 5, 6>();
      Tiles::template multiply<3, 5, 7>();
    }
  }
  Tiles::template store_tile<0>(quad.sums, kStride);
  Tiles::template store_tile<1>(quad.sums + kSide, kStride);
  Tiles::template store_tile<2>(low, kStride);
  Tiles::template store_tile<3>(low + kSide, kStride);
}

}  // namespace qkv::kernels::cpu::amx
