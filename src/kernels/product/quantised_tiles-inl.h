// Quantised products of many rows on the AMX tile unit: the panels of quantised-inl.h are registers of it already.
#pragma once

#include "kernels/cpu/tile_config.h"
#include "kernels/product/quantised-inl.h"

namespace qkv::kernels::quantised {

// A register has as many rows: with fewer of x the vector unit is faster.
inline constexpr std::int64_t kTileRows = 16;

/// Register 0 holds sums, 1 a group's numbers of kTileRows rows of x, 2 those of a panel.
constexpr cpu::amx::TileConfig config_of_group(std::int64_t group) {
  cpu::amx::TileConfig config;
  config.row_bytes[1] = static_cast<std::uint16_t>(group);
  config.rows[2] = static_cast<std::uint8_t>(group / 4);
  return config;
}
template <int kGroup>
inline constexpr cpu::amx::TileConfig kGroupConfig = config_of_group(kGroup);

/// kTileRows rows of x, from `row` on, with a panel.
template <class S, BlockType kType>
struct TileProduct {
  using Type = Blocks<S, kType>;
  using WideFloats = typename S::WideFloats;
  using WideInts = typename S::WideInts;
  static constexpr int kGroup = kBlock / Type::kGroups;
  static_assert(S::kLanes == kTileRows && !kRaised<S, kType>);

  const QuantisedProduct& p;
  const Panel<S>& panel;
  std::int64_t row;
  WideFloats sums[kTileRows] = {};
  // Of this group and the next, which is multiplied while this one's are scaled.
  alignas(64) std::int32_t products[2][kTileRows * S::kLanes] = {};

  [[gnu::always_inline]] void multiply(std::int64_t group) {
    const std::int64_t K = p.weight.K;
    S::template zero_tile<0>();
    S::template load_tile<1>(p.x.numbers + row * K + group * kGroup, K);
    S::template load_tile<2>(panel.numbers + group * (kGroup / 4) * Panel<S>::kStep, Panel<S>::kStep);
    S::template multiply_i8<0, 1, 2>();
    S::template store_tile<0>(products[group % 2], Panel<S>::kStep);
  }

  [[gnu::always_inline]] void scale(std::int64_t group) {
    const float* of_x = p.x.scales + row * p.x.stride + group;
    const auto of_panel = load<WideFloats>(panel.scales + group * S::kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kTileRows; ++r) {
      const auto whole = load<WideInts>(products[group % 2] + r * S::kLanes);
      sums[r] += __builtin_convertvector(whole, WideFloats) * (of_panel * of_x[r * p.x.stride]);
    }
    if constexpr (kPanelHasLeast<S, kType>) {
      const auto least = load<WideFloats>(panel.least + group * S::kLanes);
      const float* sums_of_x = p.x.sums + row * p.x.stride + group;
#pragma GCC unroll 16
      for (int r = 0; r < kTileRows; ++r) sums[r] += least * sums_of_x[r * p.x.stride];
    }
  }

  [[gnu::always_inline]] void write(std::int64_t column, std::int64_t columns) const {
    for (int r = 0; r < kTileRows; ++r) write_row<S>(p, row + r, column, columns, sums[r]);
  }

  [[gnu::always_inline]] void run(std::int64_t column, std::int64_t columns) {
    const std::int64_t groups = p.weight.K / kGroup;
    multiply(0);
    for (std::int64_t group = 0; group + 1 < groups; ++group) {
      multiply(group + 1);
      scale(group);
    }
    scale(groups - 1);
    write(column, columns);
  }
};

template <class S, BlockType kType>
void tile_columns(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  lay_panels<S, kType>(p.weight, begin, end, scratch);
  const cpu::amx::HeldTiles<S> tiles(kGroupConfig<TileProduct<S, kType>::kGroup>);
  for (std::int64_t first = 0; first < p.x.M; first += kTileRows) {
    // The last rows have some of those before them again, with the same results.
    const std::int64_t row = first + kTileRows <= p.x.M ? first : p.x.M - kTileRows;
    each_panel<S>(p.weight.K, begin, end, scratch,
                  [&](const Panel<S>& panel, std::int64_t column, std::int64_t columns) __attribute__((always_inline)) {
                    TileProduct<S, kType> product = {.p = p, .panel = panel, .row = row};
                    product.run(column, columns);
                  });
  }
}

template <class S>
void tiles_many(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  if (p.x.M < kTileRows) return S::others().many(p, begin, end, scratch);
  switch (p.weight.type) {
#define QKV_TILES(type) \
  case BlockType::type: \
    return tile_columns<S, BlockType::type>(p, begin, end, scratch);
    QKV_EACH_BLOCK_TYPE(QKV_TILES)
#undef QKV_TILES
  }
}

/// S has the operations of the tile unit, too, and others(), the loops of fewer rows.
template <class S>
constexpr QuantisedLoops tile_loops_of() {
  return {.few = few_of_others<S>, .many = tiles_many<S>, .lanes = S::kLanes};
}

}  // namespace qkv::kernels::quantised
