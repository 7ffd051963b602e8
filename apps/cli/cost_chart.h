// What grows with the sequence: the figures of one configuration at many lengths, as a chart.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/cost.h"
#include "qkv/picture/chart.h"

namespace qkv::cli {

struct CostRange {
  std::string of = "memory";  // or "flops", "traffic"
  std::int64_t from = 128;
  std::int64_t to = 131072;
};

/// One point at `from`, at each doubling of it, and at `to`. Misuse of --of, --from or --to.
[[nodiscard]] Chart cost_chart(const CostConfig& config, const CostRange& range);

}  // namespace qkv::cli
