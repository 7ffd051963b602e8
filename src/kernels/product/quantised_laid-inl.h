// Quantised products of many rows for instructions that want x in another form than it has: four rows of x at a time
// are laid anew, once for all panels of a task.
#pragma once

#include "kernels/product/quantised-inl.h"

namespace qkv::kernels::quantised {

inline constexpr int kLaidRows = 4;
inline constexpr int kLaidStep = 8;   // numbers of a row that are multiplied at a time
inline constexpr int kLaidParts = 8;  // vectors of sums: kLaidRows rows of eight

/// S has, beside what lay_panel() wants of it:
///   X                                    of numbers of x as they are laid
///   lay_rows(x, K, to)                   lays kLaidRows rows of x
///   add_products(products, numbers, x)   kLaidStep numbers of a panel and of each row
///   stand_as_rows(products)              so that parts 2 r and 2 r + 1 are the eight lanes of row r
template <class S, BlockType kType>
[[gnu::always_inline]] inline void laid_rows_of_panel(const QuantisedProduct& p, const Panel<S>& panel,
                                                      const typename S::X* x, std::int64_t row, std::int64_t column,
                                                      std::int64_t columns) {
  constexpr std::int64_t kGroup = kBlock / Blocks<S, kType>::kGroups;
  const std::int64_t stride = p.x.stride;
  const float* scales = p.x.scales + row * stride;
  const float* sums_of_x = p.x.sums + row * stride;
  const std::uint8_t* numbers = panel.numbers;
  FourFloats sums[kLaidParts] = {};
  for (std::int64_t group = 0; group < p.weight.K / kGroup; ++group) {
    FourInts products[kLaidParts] = {};
#pragma GCC unroll 4
    for (int step = 0; step < kGroup / kLaidStep; ++step) {
      S::add_products(products, numbers, x);
      numbers += kLaidStep / 4 * Panel<S>::kStep;
      x += kLaidStep * kLaidRows;
    }
    S::stand_as_rows(products);
    const float* scale = panel.scales + group * S::kLanes;
#pragma GCC unroll 8
    for (int part = 0; part < kLaidParts; ++part) {
      const FourFloats both = load<FourFloats>(scale + part % 2 * 4) * scales[part / 2 * stride + group];
      sums[part] += __builtin_convertvector(products[part], FourFloats) * both;
    }
    if constexpr (kPanelHasLeast<S, kType>) {
      const float* least = panel.least + group * S::kLanes;
#pragma GCC unroll 8
      for (int part = 0; part < kLaidParts; ++part) {
        sums[part] += load<FourFloats>(least + part % 2 * 4) * sums_of_x[part / 2 * stride + group];
      }
    }
  }
  for (int r = 0; r < kLaidRows && row + r < p.x.M; ++r) {
    write_row<S>(p, row + r, column, columns, load<Floats>(sums + 2 * r));
  }
}

template <class S, BlockType kType>
void laid_columns(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  static_assert(S::kLanes == 8 && kLaidRows * sizeof(typename S::X) <= kLaidBytes);
  const std::int64_t K = p.weight.K;
  auto* const x = reinterpret_cast<typename S::X*>(scratch);
  std::byte* const panels = scratch + kLaidBytes * K;
  lay_panels<S, kType>(p.weight, begin, end, panels);
  for (std::int64_t row = 0; row < p.x.M; row += kLaidRows) {
    S::lay_rows(p.x.numbers + row * K, K, x);
    each_panel<S>(K, begin, end, panels,
                  [&](const Panel<S>& panel, std::int64_t column, std::int64_t columns) __attribute__((always_inline)) {
                    laid_rows_of_panel<S, kType>(p, panel, x, row, column, columns);
                  });
  }
}

template <class S>
void laid_many(const QuantisedProduct& p, std::int64_t begin, std::int64_t end, std::byte* scratch) {
  switch (p.weight.type) {
#define QKV_LAID(type)  \
  case BlockType::type: \
    return laid_columns<S, BlockType::type>(p, begin, end, scratch);
    QKV_EACH_BLOCK_TYPE(QKV_LAID)
#undef QKV_LAID
  }
}

template <class S>
constexpr QuantisedLoops laid_loops_of() {
  return {.few = few<S>, .many = laid_many<S>, .lanes = S::kLanes};
}

}  // namespace qkv::kernels::quantised
