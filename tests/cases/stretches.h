// Parts of the queries and keys of a call, as windows hold them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "qkv/kv_cache.h"
#include "qkv/mask.h"

namespace qkv::cases {

/// Rows first, first + step, … of an axis.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// An axis cut into all of it, stretches (some of them empty), or every second or third row.
[[nodiscard]] std::vector<Stretch> stretches_of(std::int64_t extent, std::mt19937_64& engine);

/// The rows of axis 2: of q, k, v, out or lse.
[[nodiscard]] TensorView rows_of(const TensorView& x, const Stretch& rows);
[[nodiscard]] MutableTensorView rows_of(const MutableTensorView& x, const Stretch& rows);

[[nodiscard]] MatrixWindow window_of(std::int64_t Tq, std::int64_t Tk, const Stretch& queries, const Stretch& keys);

enum class Storage : std::uint8_t { contiguous, paged };

/// A cache of a stretch of each sequence of another, with the same bits: contiguous, or in pages that sequences take in
/// turn. Memory that holds no token is 0xFF.
class CachePart {
 public:
  CachePart(const KvCacheView& whole, const std::vector<Stretch>& stretches, Storage storage);

  /// Valid as long as the part.
  [[nodiscard]] KvCacheView view() const;

 private:
  Tensor k_;
  Tensor v_;
  Tensor k_scales_;
  Tensor v_scales_;
  Tensor table_;  // of no elements: contiguous
  std::vector<std::int64_t> lengths_;
};

}  // namespace qkv::cases
