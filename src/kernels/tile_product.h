// Products of rows of up to 64 queries with rows of up to 64 keys: what a tile of scores begins with.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/forward.h"
#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv::kernels {

/// Queries and keys of a tile.
inline constexpr std::int64_t kTile = 64;

/// A tile is transposed: the number of key j_begin + c and query i_begin + n stands at [c * kTile + n], so that lanes
/// are queries. Those past the last query hold numbers of no meaning.
template <class Real>
using ScoreTile = std::array<Real, kTile * kTile>;

/// Sums in Real, which is float or double. In f64 the products are the reference's, bit for bit.
template <class Real>
class TileProduct {
 public:
  /// Of rows of `width` elements. In f32 with the loops of a target; null, as f64 has it, for those of any machine.
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
