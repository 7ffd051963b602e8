// Products of rows of up to 64 queries with rows of up to 64 keys: the first step of a tile of scores.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/tile.h"
#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// A tile is transposed: the element of key j_begin + c and query i_begin + n is at [c * kTile + n], so that lanes are
/// queries. Lanes past the last query are undefined.
template <class Real>
using ScoreTile = std::array<Real, kTile * kTile>;

/// Sums in Real, which is float or double. In f64 the products are the reference's, bit for bit.
template <class Real>
class TileProduct {
 public:
  /// For rows of `width` elements. `loops` are those of a target, or null for portable loops, which f64 uses.
  TileProduct(std::int64_t width, const cpu::Target* target);

  /// Rows [i_begin, i_end) of a head of x [B, H, T, width].
  void set_queries(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t i_begin, std::int64_t i_end);
  void set_keys(const TensorView& x, std::int64_t b, std::int64_t h, const KeyRange& keys);

  void multiply(ScoreTile<Real>& tile) const;

 private:
  std::int64_t width_;
  const cpu::Target* target_;
  std::int64_t queries_ = 0;
  std::int64_t keys_ = 0;
  std::vector<Real> across_;  // of the queries, [width][kTile]
  std::vector<Real> rows_;    // of the keys, [kTile][width]
};

extern template class TileProduct<float>;
extern template class TileProduct<double>;

}  // namespace qkv::kernels
