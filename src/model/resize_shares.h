// What the numbers along one side count in the numbers of a resized one.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/model/image_preparation.h"

namespace qkv {

/// Shares of the numbers from `first` on, of sum 1.
struct ResizeShares {
  std::int64_t first = 0;
  std::vector<double> shares = {};
};

/// Those of one place among `out`, made of `in` numbers, as Pillow and torch's antialias have them: the filter is
/// stretched where the result is smaller, and nothing counts beyond the ends.
[[nodiscard]] ResizeShares resize_shares(std::int64_t place, std::int64_t in, std::int64_t out, ResizeFilter filter);

}  // namespace qkv
