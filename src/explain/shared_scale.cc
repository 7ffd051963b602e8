#include "explain/shared_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qkv::explain_detail {

Ends shared_ends(const Heatmap& wanted, const std::vector<NamedHeatmap>& all) {
  Ends ends{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const NamedHeatmap& named : all) {
    if (named.heatmap.colours != wanted.colours || named.heatmap.value_name != wanted.value_name) continue;
    for (const double value : named.heatmap.values.to_vector()) {
      if (!std::isfinite(value)) continue;
      ends.low = std::min(ends.low, value);
      ends.high = std::max(ends.high, value);
    }
  }
  if (!(ends.low <= ends.high)) ends = {0, 1};
  if (wanted.colours == ColourMap::diverging) {
    const double reach = std::max(std::abs(ends.low), std::abs(ends.high));
    ends = {-reach, reach};
  }
  return {wanted.low.value_or(ends.low), wanted.high.value_or(ends.high)};
}

bool is_hidden(const Heatmap& heatmap, std::int64_t i, std::int64_t j) {
  if (!heatmap.hidden.empty() && heatmap.hidden.at({i, j}) != 0) return true;
  return heatmap.values.at({i, j}) == -std::numeric_limits<double>::infinity();
}

}  // namespace qkv::explain_detail
