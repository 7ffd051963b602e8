// The shapes of tile registers, and a thread's hold on them.
#pragma once

#include <cstdint>

namespace qkv::kernels::cpu::amx {

/// As `ldtilecfg` reads it: by default eight registers of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t first_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// Static, since GCC 12 drops stores to a local one that only the instruction reads.
inline constexpr TileConfig kTileConfig = {};

/// Holds the tile registers for one thread while it runs a task.
template <class Registers>
class HeldTiles {
 public:
  HeldTiles() : HeldTiles(kTileConfig) {}
  /// `config` is static.
  [[gnu::always_inline]] explicit HeldTiles(const TileConfig& config) { Registers::configure(&config); }
  [[gnu::always_inline]] ~HeldTiles() { Registers::release(); }
  HeldTiles(const HeldTiles&) = delete;
  HeldTiles& operator=(const HeldTiles&) = delete;
};

}  // namespace qkv::kernels::cpu::amx
