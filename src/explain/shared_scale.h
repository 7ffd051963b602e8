// One colour scale for heatmaps that are to be compared.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/explain.h"

namespace qkv::explain_detail {

struct Ends {
  double low = 0;
  double high = 1;
};

/// The ends of `wanted`'s scale: its own where it names them, otherwise from all heatmaps of the same colours and value
/// name (diverging: symmetric about 0).
[[nodiscard]] Ends shared_ends(const Heatmap& wanted, const std::vector<NamedHeatmap>& all);

/// Whether no number is shown there: the heatmap hides it, or it is -inf, the score of a hidden key.
[[nodiscard]] bool is_hidden(const Heatmap& heatmap, std::int64_t i, std::int64_t j);

}  // namespace qkv::explain_detail
